// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Calls that are tried in every state of a socket. */
#ifndef TRIES_H
#define TRIES_H

#include "sockets.h"

/* A socket, its peer and the listener that it came from; -1 for what there is not. */
struct ends {
	int fd, peer, server, port;
};

/* The state is looked at afterwards; it is tried in every state, not where arguments are tried alone. */
#define CHANGES 1
#define ALWAYS 2

struct try {
	const char *name;
	/* The result; what it wants to add goes to `more`. */
	long (*run)(const struct try *, const struct ends *);
	int flags;
	long size;
	int kind;
};

extern const struct try tries[];
extern const unsigned tries_count;

void run_try(const struct try *one, const struct ends *ends);

#endif
