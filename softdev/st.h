/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the parts of the self-test share. */
#ifndef FK_ST_H
#define FK_ST_H

#include "rdmafake.h"

#include <errno.h>
#ifndef FK_ST_RAW
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			printf("%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #cond, errno); \
			fflush(stdout); \
			_exit(1); \
		} \
	} while (0)

#define EQ(a, b) \
	do { \
		long long a_ = (long long)(a), b_ = (long long)(b); \
		if (a_ != b_) { \
			printf("%s:%d: %s is %lld, not %lld (errno %d)\n", __FILE__, __LINE__, #a, \
			       a_, b_, errno); \
			fflush(stdout); \
			_exit(1); \
		} \
	} while (0)

#define FAILS(call, err) \
	do { \
		errno = 0; \
		CHECK((call) == -1); \
		EQ(errno, err); \
	} while (0)

struct test {
	const char *name;
	const char *script;
	void (*run)(void);
};

extern const struct test conn_tests[], more_tests[], script_tests[], verbs_tests[],
	raw_tests[], fork_tests[];

#ifndef FK_ST_RAW
/* Two connected ids of one process, and what each was told last. */
struct pair {
	struct rdma_event_channel *sch, *cch;
	struct rdma_cm_id *listener, *srv, *cli;
	struct ibv_mr *smr, *cmr;
	char sbuf[4096], cbuf[4096];
};

struct sockaddr *addr(const char *ip, int port);
/* Takes the next event; checks its type (and status) and acknowledges it. */
struct rdma_cm_id *expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, int status);
void resolve(struct rdma_cm_id *id, const char *ip, int port);
void make_qp(struct rdma_cm_id *id);
/* Up to the connect request. */
void pair_request(struct pair *p, enum rdma_port_space ps, int port);
void pair_open(struct pair *p, enum rdma_port_space ps, int port);
void pair_close(struct pair *p);
#endif
void script(const char *text);
struct rdmafake_live live_now(void);

#endif
