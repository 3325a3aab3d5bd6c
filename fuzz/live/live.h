// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the scripts of both live targets share. An input is a script: a byte says what is done, the bytes after it how. */
#ifndef LIVE_H
#define LIVE_H

#include "helpers.h"
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdint.h>

#define DEVICE_ADDRESS "10.77.0.1"

/* What can only be our fault. */
#define MUST(condition)                                                                     \
	do {                                                                                \
		if (!(condition)) {                                                         \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
			abort();                                                            \
		}                                                                           \
	} while (0)

struct script {
	const uint8_t *at, *end;
};

static inline int ended(const struct script *script) { return script->at == script->end; }

static inline uint8_t byte(struct script *script) { return ended(script) ? 0 : *script->at++; }

static inline uint32_t word(struct script *script)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value = value << 8 | byte(script);
	return value;
}

static inline struct sockaddr_in device(int port) { return ipv4(DEVICE_ADDRESS, port); }

/* No non-blocking call lasts so long, whatever a peer does. */
#define IN_TIME(call)                                   \
	({                                              \
		double begin_ = now();                  \
		long result_ = (long)(call);            \
		MUST(now() - begin_ < 15);               \
		result_;                                \
	})

/* What an input leaves open is found after some hundred of them. */
static inline void look_for_leaks(void)
{
	static int inputs, first;

	if (++inputs % 512)
		return;
	int open = open_files();
	if (!first)
		first = open;
	MUST(open < first + 128);
}

#endif
