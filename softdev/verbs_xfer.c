/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The engine: takes work from send queues and carries it out. */
#include "copy.h"

#include <errno.h>
#include <string.h>

enum { WAIT = -1, DROP = -2 };

bool fk_find_target(uint32_t peer, const struct fk_wqe *w, struct fk_target *t)
{
	struct fk_vqp *p = fk_qpp(peer);
	uint32_t srq = p->type == IBV_QPT_XRC_RECV ? w->srqn : p->srq;

	memset(t, 0, sizeof(*t));
	t->ring = &p->rq;
	t->cq = p->recv_cq;
	t->pd = p->pd;
	t->slots = 1;
	if (srq) {
		if (srq > FK_MAX_SRQ || !fk_srqp(srq)->node.live)
			return false;
		t->ring = &fk_srqp(srq)->rq;
		t->pd = fk_srqp(srq)->pd;
		t->srq = srq;
		t->slots = 0;
		if (fk_srqp(srq)->cq)
			t->cq = fk_srqp(srq)->cq;
	}
	return t->cq != 0;
}

void fk_recv_done(uint32_t peer, struct fk_target *t, struct fk_cqe *e, bool solicited)
{
	fk_ring_drop(t->ring);
	if (t->srq) {
		struct fk_vsrq *s = fk_srqp(t->srq);

		t->ring->used--;
		if (s->limit && t->ring->count < s->limit) {
			s->limit = 0;
			fk_async_srq(t->srq, IBV_EVENT_SRQ_LIMIT_REACHED);
		}
	}
	e->is_recv = 1;
	e->qp = peer;
	e->qp_gen = fk_qpp(peer)->node.gen;
	e->qp_num = fk_qpp(peer)->qpn;
	e->slots = t->slots;
	fk_cq_push(t->cq, e, solicited);
}

static int no_receive(uint32_t qp)
{
	struct fk_vqp *k = fk_qpp(qp);

	if (k->type == IBV_QPT_UC)
		return DROP;
	if (k->attr.rnr_retry == 0 && fk_devp(k->dev)->transport != FK_TRANSPORT_IWARP)
		return IBV_WC_RNR_RETRY_EXC_ERR;
	return WAIT;
}

/* SEND in its forms, and the second half of a write with immediate. */
static int deliver(uint32_t qp, uint32_t peer, const struct fk_wqe *w, const struct fk_seg *src,
		   int nsrc, uint32_t written)
{
	bool write = w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct fk_cqe e = {
		.opcode = write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
		.src_qp = fk_qpp(qp)->qpn, .byte_len = written,
		/* As soft-RoCE says it of every packet. */
		.flags = fk_roce(fk_devp(fk_qpp(peer)->dev), fk_qpp(peer)->attr.port_num) ? IBV_WC_GRH : 0,
	};
	struct fk_seg dst[FK_MAX_SGE];
	struct fk_wqe *r;
	struct fk_target t;
	uint64_t len = fk_seg_sum(src, nsrc);
	int n, status = 0;

	if (!fk_find_target(peer, w, &t))
		return IBV_WC_REM_INV_REQ_ERR;
	r = fk_ring_first(t.ring);
	if (!r)
		return no_receive(qp);
	e.wr_id = r->wr_id;
	if (w->opcode == IBV_WR_SEND_WITH_IMM || write) {
		e.flags |= IBV_WC_WITH_IMM;
		e.imm = w->imm;
	}
	if (w->opcode == IBV_WR_SEND_WITH_INV) {
		e.flags |= IBV_WC_WITH_INV;
		e.inv_rkey = w->imm;
	}
	if (!write) {
		n = fk_local_segs(r, t.pd, IBV_ACCESS_LOCAL_WRITE, dst);
		e.byte_len = (uint32_t)len;
		if (n < 0) {
			e.status = IBV_WC_LOC_PROT_ERR;
			status = IBV_WC_REM_OP_ERR;
		} else if (len > fk_seg_sum(dst, n)) {
			e.status = IBV_WC_LOC_LEN_ERR;
			status = IBV_WC_REM_INV_REQ_ERR;
		} else if (fk_move(dst, n, src, nsrc, 0)) {
			e.status = IBV_WC_LOC_PROT_ERR;
			status = IBV_WC_REM_OP_ERR;
		}
	}
	fk_recv_done(peer, &t, &e, (w->flags & IBV_SEND_SOLICITED) != 0);
	if (status)
		fk_qp_error(peer);
	return status;
}

static int remote_denied(uint32_t peer)
{
	fk_async_qp(peer, IBV_EVENT_QP_ACCESS_ERR);
	fk_qp_error(peer);
	return IBV_WC_REM_ACCESS_ERR;
}

static int rdma_write(uint32_t qp, uint32_t peer, const struct fk_wqe *w, const struct fk_seg *src, int n)
{
	struct fk_vqp *p = fk_qpp(peer);
	uint64_t len = fk_seg_sum(src, n);
	bool imm = w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct fk_target t;
	struct fk_seg dst;

	if (imm && fk_find_target(peer, w, &t) && !fk_ring_first(t.ring))
		return no_receive(qp);
	if (len && (!(p->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) ||
		    fk_remote_seg(w->rkey, p->pd, w->remote, len, IBV_ACCESS_REMOTE_WRITE, &dst)))
		return remote_denied(peer);
	if (len && fk_move(&dst, 1, src, n, 0))
		return IBV_WC_REM_OP_ERR;
	return imm ? deliver(qp, peer, w, NULL, 0, (uint32_t)len) : 0;
}

static int rdma_read(uint32_t peer, const struct fk_wqe *w, const struct fk_seg *dst, int n)
{
	struct fk_vqp *p = fk_qpp(peer);
	uint64_t len = fk_seg_sum(dst, n);
	struct fk_seg src;

	if (len && (!(p->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) ||
		    fk_remote_seg(w->rkey, p->pd, w->remote, len, IBV_ACCESS_REMOTE_READ, &src)))
		return remote_denied(peer);
	return len && fk_move(dst, n, &src, 1, 0) ? IBV_WC_REM_OP_ERR : 0;
}

static int atomic_op(uint32_t peer, const struct fk_wqe *w, const struct fk_seg *dst, int n)
{
	struct fk_vqp *p = fk_qpp(peer);
	uint64_t old, now;
	struct fk_seg mem, tmp = { (uintptr_t)&old, 8, fk_pid() };

	if (w->remote % 8)
		return IBV_WC_REM_INV_REQ_ERR;
	if (!(p->attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) ||
	    fk_remote_seg(w->rkey, p->pd, w->remote, 8, IBV_ACCESS_REMOTE_ATOMIC, &mem))
		return remote_denied(peer);
	if (fk_move(&tmp, 1, &mem, 1, 0))
		return IBV_WC_REM_OP_ERR;
	if (w->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		now = old + w->compare;
	else
		now = old == w->compare ? w->swap : old;
	if (fk_move(dst, n, &tmp, 1, 0))
		return IBV_WC_LOC_PROT_ERR;
	tmp.addr = (uintptr_t)&now;
	return fk_move(&mem, 1, &tmp, 1, 0) ? IBV_WC_REM_OP_ERR : 0;
}

/* WAIT, DROP, or the status of the completion. */
static int connected(uint32_t qp, const struct fk_wqe *w)
{
	struct fk_vqp *k = fk_qpp(qp);
	bool into = w->opcode == IBV_WR_RDMA_READ || w->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		    w->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint32_t peer = fk_qp_by_num(w->dest_qpn);
	struct fk_seg s[FK_MAX_SGE];
	int n = fk_local_segs(w, k->pd, into ? IBV_ACCESS_LOCAL_WRITE : 0, s);

	if (n < 0)
		return IBV_WC_LOC_PROT_ERR;
	if (!peer || fk_qpp(peer)->state == IBV_QPS_ERR || fk_qpp(peer)->state == IBV_QPS_RESET)
		return k->type == IBV_QPT_UC ? DROP : IBV_WC_RETRY_EXC_ERR;
	if (fk_qpp(peer)->state == IBV_QPS_INIT)
		return WAIT;
	if (fk_qpp(peer)->attr.dest_qp_num != k->qpn)
		return k->type == IBV_QPT_UC ? DROP : IBV_WC_RETRY_EXC_ERR;
	switch (w->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return rdma_write(qp, peer, w, s, n);
	case IBV_WR_RDMA_READ:
		return rdma_read(peer, w, s, n);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return atomic_op(peer, w, s, n);
	default:
		return deliver(qp, peer, w, s, n, 0);
	}
}

static uint32_t wc_opcode(uint32_t op)
{
	switch (op) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	default:
		return IBV_WC_SEND;
	}
}

static void send_done(uint32_t qp, const struct fk_wqe *w, int status)
{
	struct fk_vqp *k = fk_qpp(qp);
	struct fk_cqe e = {
		.wr_id = w->wr_id, .status = (uint32_t)status, .opcode = wc_opcode(w->opcode),
		.qp_num = k->qpn, .qp = qp, .qp_gen = k->node.gen, .slots = k->silent + 1,
	};

	k->rnr_gen++;
	k->rnr_timer = 0;
	if (w->opcode == IBV_WR_RDMA_READ)
		for (uint32_t i = 0; i < w->nsge; i++)
			e.byte_len += w->sge[i].len;
	fk_ring_drop(&k->sq);
	if (!status && !k->sig_all && !(w->flags & IBV_SEND_SIGNALED)) {
		k->silent++;
		return;
	}
	k->silent = 0;
	fk_cq_push(k->send_cq, &e, true);
}

static void rnr_over(uint64_t arg)
{
	uint32_t qp = arg & 0xffff;
	struct fk_vqp *k = fk_qpp(qp);
	struct fk_wqe *w;

	fk_vlock();
	w = k->node.live && (k->node.gen & 0xffff) == ((arg >> 16) & 0xffff) &&
	    k->rnr_timer == (uint32_t)(arg >> 32) && k->state == IBV_QPS_RTS ? fk_ring_first(&k->sq) : NULL;
	if (w && k->rnr_timer) {
		send_done(qp, w, IBV_WC_RNR_RETRY_EXC_ERR);
		fk_qp_error(qp);
	}
	fk_vunlock();
}

static void rnr_wait(uint32_t qp)
{
	struct fk_vqp *k = fk_qpp(qp);

	if (k->rnr_timer || k->attr.rnr_retry == 7 || k->attr.rnr_retry == 0)
		return;
	k->rnr_timer = ++k->rnr_gen ? k->rnr_gen : ++k->rnr_gen;
	fk_timer(fk_k->tune.rnr_ms * k->attr.rnr_retry, rnr_over,
		 (uint64_t)k->rnr_timer << 32 | (k->node.gen & 0xffff) << 16 | qp);
}

void fk_qp_progress(uint32_t qp)
{
	struct fk_vqp *k = fk_qpp(qp);
	struct fk_wqe *w;
	int status;

	if (k->busy)
		return;
	k->busy = 1;
	while (k->state == IBV_QPS_RTS && (w = fk_ring_first(&k->sq))) {
		status = k->type == IBV_QPT_UD ? fk_datagram(qp, w) : connected(qp, w);
		if (status == WAIT) {
			rnr_wait(qp);
			break;
		}
		send_done(qp, w, status == DROP ? 0 : status);
		if (status > 0 && k->type != IBV_QPT_UD)
			fk_qp_error(qp);
	}
	k->busy = 0;
}

void fk_qp_kick_senders(uint32_t qp)
{
	struct fk_vqp *k = fk_qpp(qp);
	uint32_t peer = k->type == IBV_QPT_UD ? 0 : fk_qp_by_num(k->attr.dest_qp_num);

	if (peer && fk_qpp(peer)->attr.dest_qp_num == k->qpn && fk_qpp(peer)->sq.count)
		fk_qp_progress(peer);
}

void fk_srq_kick(uint32_t srq)
{
	bool xrc = fk_srqp(srq)->xrcd != 0;

	for (uint32_t i = 1; i <= fk_v->qp.pool.high; i++) {
		if (!fk_qpp(i)->node.live)
			continue;
		if (xrc ? fk_qpp(i)->type == IBV_QPT_XRC_SEND && fk_qpp(i)->sq.count : fk_qpp(i)->srq == srq) {
			if (xrc)
				fk_qp_progress(i);
			else
				fk_qp_kick_senders(i);
		}
	}
}
