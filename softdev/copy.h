/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef FK_COPY_H
#define FK_COPY_H

#include "verbs.h"

/* A piece of memory of some process. */
struct fk_seg { uint64_t addr, len; pid_t pid; };

/* Copies what fits, leaving out the first skip bytes of the target. */
int fk_move(const struct fk_seg *to, int nto, const struct fk_seg *from, int nfrom, uint64_t skip);
uint64_t fk_seg_sum(const struct fk_seg *s, int n);
/* Both give the number of pieces, or -1 when a key does not allow it. */
int fk_local_segs(const struct fk_wqe *w, uint32_t pd, uint32_t access, struct fk_seg *s);
int fk_remote_seg(uint32_t key, uint32_t pd, uint64_t addr, uint64_t len, uint32_t access,
		  struct fk_seg *s);

/* Where an incoming message finds its receive request. */
struct fk_target {
	struct fk_ring *ring;
	uint32_t cq, pd, srq;
	uint32_t slots;
};

bool fk_find_target(uint32_t peer, const struct fk_wqe *w, struct fk_target *t);
void fk_recv_done(uint32_t peer, struct fk_target *t, struct fk_cqe *e, bool solicited);
int fk_datagram(uint32_t qp, const struct fk_wqe *w);

#endif
