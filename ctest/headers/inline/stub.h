/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
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

/* The helpers as one file of the program knows them. */
struct table {
	int (*recvv)(struct rdma_cm_id *, void *, struct ibv_sge *, int);
	int (*sendv)(struct rdma_cm_id *, void *, struct ibv_sge *, int, int);
	int (*readv)(struct rdma_cm_id *, void *, struct ibv_sge *, int, int, uint64_t, uint32_t);
	int (*writev)(struct rdma_cm_id *, void *, struct ibv_sge *, int, int, uint64_t, uint32_t);
	int (*recv)(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *);
	int (*send)(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int);
	int (*read)(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int, uint64_t, uint32_t);
	int (*write)(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int, uint64_t, uint32_t);
	int (*ud_send)(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int, struct ibv_ah *,
		       uint32_t);
	int (*send_comp)(struct rdma_cm_id *, struct ibv_wc *);
	int (*recv_comp)(struct rdma_cm_id *, struct ibv_wc *);
	struct sockaddr *(*local)(struct rdma_cm_id *);
	struct sockaddr *(*peer)(struct rdma_cm_id *);
};

#define TABLE                                                                                                \
	{                                                                                                    \
		rdma_post_recvv, rdma_post_sendv, rdma_post_readv, rdma_post_writev, rdma_post_recv,         \
		rdma_post_send, rdma_post_read, rdma_post_write, rdma_post_ud_send, rdma_get_send_comp,      \
		rdma_get_recv_comp, rdma_get_local_addr, rdma_get_peer_addr                                  \
	}

/* The table of the other file, and whether its entries are the exported functions. */
extern const struct table other_table;
extern const int other_is_exported;
int post_from_other_file(int which, struct ibv_sge *list, struct ibv_mr *mr);

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
