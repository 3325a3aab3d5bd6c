/*
 * A device that only notes what is posted to it: enough for the helpers of rdma_verbs.h, which reach a
 * device through the function table of its context. C and C++.
 */
#ifndef STUB_H
#define STUB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a work request said. */
struct note {
	uint64_t wr_id, remote_addr;
	uint32_t opcode, flags, count, rkey, remote_qpn, qkey;
	struct ibv_sge list[2];
	struct ibv_ah *ah;
	int is_receive, is_shared;
};

struct stub {
	struct ibv_context context;
	struct ibv_qp qp;
	struct ibv_cq cq;
	struct ibv_srq srq;
	struct rdma_cm_id id;
	struct note note;
	/* What the next calls return. */
	int posted, polled;
};

extern struct stub stub;
void stub_reset(void);

/* All helpers that post, through one call each; `which` counts from 0 to POSTS - 1. */
enum { POSTS = 9 };
int post_from_other_file(int which, struct ibv_sge *list, struct ibv_mr *mr);
/* The address of rdma_post_send, as seen in the other file. */
void *address_in_other_file(void);

#define CHECK(what)                                                                                          \
	do {                                                                                                 \
		if (!(what)) {                                                                               \
			fprintf(stderr, "%s:%d: %s, errno %d\n", __FILE__, __LINE__, #what, errno);          \
			exit(1);                                                                             \
		}                                                                                            \
	} while (0)

#ifdef __cplusplus
}
#endif

#endif
