/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queue pairs: creation, states, destruction. */
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_INLINE = 64 };

int fk_ring_make(struct fk_ring *r, uint32_t depth, uint32_t sges, uint32_t extra)
{
	uint64_t room = sges * sizeof(struct fk_sge);

	if (room < extra)
		room = extra;
	memset(r, 0, sizeof(*r));
	r->depth = depth;
	r->slot = (uint32_t)((sizeof(struct fk_wqe) + room + 15) & ~15ULL);
	if (!depth)
		return 0;
	r->off = fk_heap_take((uint64_t)r->slot * depth);
	return r->off ? 0 : -ENOMEM;
}

void fk_ring_free(struct fk_ring *r)
{
	if (r->depth)
		fk_heap_give(r->off, (uint64_t)r->slot * r->depth);
	r->depth = r->count = r->used = 0;
}

uint64_t fk_ring_block(const struct fk_ring *r)
{
	return r->depth ? fk_heap_block((uint64_t)r->slot * r->depth) : 0;
}

struct fk_wqe *fk_ring_push(struct fk_ring *r)
{
	struct fk_wqe *w;

	if (r->used >= r->depth)
		return NULL;
	w = fk_at(r->off + (uint64_t)r->slot * ((r->head + r->count) % r->depth));
	r->count++;
	r->used++;
	return w;
}

struct fk_wqe *fk_ring_first(struct fk_ring *r)
{
	return r->count ? fk_at(r->off + (uint64_t)r->slot * r->head) : NULL;
}

void fk_ring_drop(struct fk_ring *r)
{
	r->head = (r->head + 1) % r->depth;
	r->count--;
}

uint32_t fk_qp_by_num(uint32_t qpn)
{
	uint32_t i = qpn & 0xffff;

	return i && i <= fk_v->qp.pool.high && fk_qpp(i)->node.live && fk_qpp(i)->qpn == qpn ? i : 0;
}

static int caps_ok(const struct fk_dev *d, const struct ibv_qp_init_attr_ex *a)
{
	return a->cap.max_send_wr <= d->max_qp_wr && a->cap.max_recv_wr <= d->max_qp_wr &&
	       a->cap.max_send_sge <= d->max_sge && a->cap.max_recv_sge <= d->max_sge &&
	       d->max_sge <= FK_MAX_SGE && a->cap.max_inline_data <= FK_MAX_INLINE;
}

static int check_new(const struct fk_dev *d, const struct ibv_qp_init_attr_ex *a, struct ibv_pd *pd)
{
	bool recv = a->qp_type == IBV_QPT_XRC_RECV, send = a->qp_type == IBV_QPT_XRC_SEND;

	if (recv)
		return (a->comp_mask & IBV_QP_INIT_ATTR_XRCD) && a->xrcd ? 0 : EINVAL;
	if (!pd || !a->send_cq || (!send && !a->recv_cq))
		return EINVAL;
	if (!caps_ok(d, a))
		return EINVAL;
	switch (a->qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return 0;
	case IBV_QPT_UD:
	case IBV_QPT_UC:
		return d->transport == FK_TRANSPORT_IWARP ? EINVAL : 0;
	default:
		return EINVAL;
	}
}

static bool live_cq(struct ibv_cq *cq)
{
	return !cq || FK_LIVE(fk_cqp(((struct fk_ucq *)cq)->idx), (struct fk_ucq *)cq);
}

static int make(struct fk_uqp *qp, struct ibv_qp_init_attr_ex *a, struct fk_dev *d, uint32_t dev)
{
	struct fk_vqp *k;
	bool has_rq = !a->srq && a->qp_type != IBV_QPT_XRC_RECV && a->qp_type != IBV_QPT_XRC_SEND;

	if (!live_cq(a->send_cq) || !live_cq(a->recv_cq))
		return EINVAL;
	qp->idx = d->qps < d->max_qp ? FK_TAKE(fk_v->qp) : 0;
	if (!qp->idx)
		return ENOMEM;
	k = fk_qpp(qp->idx);
	qp->gen = k->node.gen;
	k->qpn = (k->node.gen & 0xff) << 16 | qp->idx;
	k->pid = fk_pid();
	k->user = (uintptr_t)&qp->ib;
	k->dev = dev;
	k->pd = a->pd ? ((struct fk_upd *)a->pd)->id : 0;
	k->type = (uint8_t)a->qp_type;
	k->sig_all = a->sq_sig_all != 0;
	k->send_cq = a->send_cq ? ((struct fk_ucq *)a->send_cq)->idx : 0;
	k->recv_cq = a->recv_cq ? ((struct fk_ucq *)a->recv_cq)->idx : 0;
	k->srq = a->srq ? ((struct fk_usrq *)a->srq)->idx : 0;
	k->max_send_sge = a->cap.max_send_sge;
	k->max_recv_sge = a->cap.max_recv_sge;
	/* Like most drivers: some room even where none was asked for. */
	k->max_inline = a->cap.max_inline_data < MIN_INLINE ? MIN_INLINE : a->cap.max_inline_data;
	if (k->max_inline > d->max_inline)
		k->max_inline = d->max_inline;
	if (fk_ring_make(&k->sq, a->qp_type == IBV_QPT_XRC_RECV ? 0 : a->cap.max_send_wr,
			 a->cap.max_send_sge, k->max_inline) ||
	    fk_ring_make(&k->rq, has_rq ? a->cap.max_recv_wr : 0, a->cap.max_recv_sge, 0)) {
		fk_ring_free(&k->sq);
		FK_GIVE(fk_v->qp, qp->idx);
		return ENOMEM;
	}
	if (k->srq)
		fk_srqp(k->srq)->refs++;
	d->qps++;
	a->cap.max_inline_data = k->max_inline;
	return 0;
}

static void hold(struct fk_uqp *qp, int n)
{
	if (qp->ib.pd)
		atomic_fetch_add(&((struct fk_upd *)qp->ib.pd)->refs, n);
	if (qp->ib.send_cq)
		atomic_fetch_add(&((struct fk_ucq *)qp->ib.send_cq)->refs, n);
	if (qp->ib.recv_cq)
		atomic_fetch_add(&((struct fk_ucq *)qp->ib.recv_cq)->refs, n);
}

struct ibv_qp *fk_make_qp(struct ibv_context *c, struct ibv_qp_init_attr_ex *a)
{
	int err = FK_VERB("create_qp", fk_ctx_name(c));
	uint32_t dev = fk_uctx(c)->dev;
	struct fk_dev *d = fk_devp(dev);
	struct fk_uqp *qp;

	if (!err && (a->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD)))
		err = EOPNOTSUPP;
	if (!(a->comp_mask & IBV_QP_INIT_ATTR_PD))
		a->pd = NULL;
	if (!err)
		err = check_new(d, a, a->pd);
	qp = err ? NULL : calloc(1, sizeof(*qp));
	if (!qp)
		return FK_NULL(err ? err : ENOMEM);
	fk_vlock();
	err = make(qp, a, d, dev);
	fk_vunlock();
	if (err) {
		free(qp);
		return FK_NULL(err);
	}
	qp->ib.context = c;
	qp->ib.qp_context = a->qp_context;
	qp->ib.pd = a->pd;
	qp->ib.send_cq = a->send_cq;
	qp->ib.recv_cq = a->recv_cq;
	qp->ib.srq = a->srq;
	qp->ib.handle = qp->idx;
	qp->ib.qp_num = fk_qpp(qp->idx)->qpn;
	qp->ib.qp_type = a->qp_type;
	pthread_mutex_init(&qp->ib.mutex, NULL);
	pthread_cond_init(&qp->ib.cond, NULL);
	hold(qp, 1);
	return &qp->ib;
}

FK_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct ibv_qp_init_attr_ex x = { 0 };
	struct ibv_qp *qp;

	memcpy(&x, a, sizeof(*a));
	x.comp_mask = IBV_QP_INIT_ATTR_PD;
	x.pd = pd;
	qp = fk_make_qp(pd->context, &x);
	a->cap = x.cap;
	return qp;
}

void fk_qp_end(uint32_t qp)
{
	struct fk_vqp *k = fk_qpp(qp);

	for (uint32_t i = 1; i <= fk_v->attach.pool.high; i++)
		if (fk_v->attach.at[i].node.live && fk_v->attach.at[i].qp == qp)
			FK_GIVE(fk_v->attach, i);
	k->state = IBV_QPS_RESET;
	fk_qp_kick_senders(qp);
	if (k->srq)
		fk_srqp(k->srq)->refs--;
	fk_ring_free(&k->sq);
	fk_ring_free(&k->rq);
	fk_devp(k->dev)->qps--;
	FK_GIVE(fk_v->qp, qp);
}

FK_EXPORT int ibv_destroy_qp(struct ibv_qp *ib)
{
	struct fk_uqp *qp = (struct fk_uqp *)ib;
	struct fk_vqp *k = fk_qpp(qp->idx);
	int err = FK_VERB("destroy_qp", fk_ctx_name(ib->context));

	if (err)
		return fk_verr(err);
	fk_vlock();
	if (FK_LIVE(k, qp)) {
		if (k->send_cq)
			fk_cq_forget_qp(k->send_cq, qp->idx);
		if (k->recv_cq)
			fk_cq_forget_qp(k->recv_cq, qp->idx);
		fk_qp_end(qp->idx);
	}
	fk_vunlock();
	hold(qp, -1);
	pthread_mutex_destroy(&ib->mutex);
	pthread_cond_destroy(&ib->cond);
	free(qp);
	return 0;
}

FK_EXPORT int ibv_set_ece(struct ibv_qp *ib, struct ibv_ece *ece)
{
	struct fk_vqp *k = fk_qpp(((struct fk_uqp *)ib)->idx);
	int err = FK_VERB("set_ece", fk_ctx_name(ib->context));

	if (!err && !fk_devp(k->dev)->ece)
		err = EOPNOTSUPP;
	if (err)
		return fk_verr(err);
	fk_vlock();
	k->ece_vendor = ece->vendor_id;
	k->ece_mod = ece->options;
	k->ece_comp = ece->comp_mask;
	fk_vunlock();
	return 0;
}

FK_EXPORT int ibv_query_ece(struct ibv_qp *ib, struct ibv_ece *ece)
{
	struct fk_vqp *k = fk_qpp(((struct fk_uqp *)ib)->idx);
	int err = FK_VERB("query_ece", fk_ctx_name(ib->context));

	if (!err && !fk_devp(k->dev)->ece)
		err = EOPNOTSUPP;
	if (err)
		return fk_verr(err);
	ece->vendor_id = k->ece_vendor;
	ece->options = k->ece_mod;
	ece->comp_mask = k->ece_comp;
	return 0;
}
