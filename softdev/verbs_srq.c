/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shared receive queues, plain and XRC, and the asynchronous events of objects. */
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ibv_srq *fk_make_srq(struct ibv_context *c, struct ibv_srq_init_attr_ex *a)
{
	int err = FK_VERB("create_srq", fk_ctx_name(c));
	uint32_t dev = fk_uctx(c)->dev;
	struct fk_dev *d = fk_devp(dev);
	bool xrc = (a->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && a->srq_type == IBV_SRQT_XRC;
	struct ibv_pd *pd = a->comp_mask & IBV_SRQ_INIT_ATTR_PD ? a->pd : NULL;
	struct fk_usrq *srq;
	struct fk_vsrq *k;

	if (!err && (!pd || a->attr.max_wr < 1 || a->attr.max_wr > d->max_qp_wr ||
		     a->attr.max_sge > d->max_sge || (xrc && (!a->xrcd || !a->cq))))
		err = EINVAL;
	srq = err ? NULL : calloc(1, sizeof(*srq));
	if (!srq)
		return FK_NULL(err ? err : ENOMEM);
	fk_vlock();
	srq->idx = FK_TAKE(fk_v->srq);
	k = fk_srqp(srq->idx);
	if (!srq->idx || fk_ring_make(&k->rq, a->attr.max_wr, a->attr.max_sge, 0)) {
		if (srq->idx)
			FK_GIVE(fk_v->srq, srq->idx);
		fk_vunlock();
		free(srq);
		return FK_NULL(ENOMEM);
	}
	srq->gen = k->node.gen;
	k->pid = fk_pid();
	k->user = (uintptr_t)&srq->ib;
	k->dev = dev;
	k->pd = ((struct fk_upd *)pd)->id;
	k->max_sge = a->attr.max_sge;
	k->limit = 0;
	k->type = xrc ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
	if (xrc) {
		k->cq = ((struct fk_ucq *)a->cq)->idx;
		k->xrcd = ((struct fk_uxrcd *)a->xrcd)->id;
		atomic_fetch_add(&((struct fk_ucq *)a->cq)->refs, 1);
		atomic_fetch_add(&((struct fk_uxrcd *)a->xrcd)->refs, 1);
	}
	d->srqs++;
	fk_vunlock();
	atomic_fetch_add(&((struct fk_upd *)pd)->refs, 1);
	srq->ib.context = c;
	srq->ib.srq_context = a->srq_context;
	srq->ib.pd = pd;
	srq->ib.handle = srq->idx;
	srq->cq = xrc ? a->cq : NULL;
	srq->xrcd = xrc ? a->xrcd : NULL;
	pthread_mutex_init(&srq->ib.mutex, NULL);
	pthread_cond_init(&srq->ib.cond, NULL);
	return &srq->ib;
}

FK_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *a)
{
	struct ibv_srq_init_attr_ex x = {
		.srq_context = a->srq_context, .attr = a->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_PD, .pd = pd,
	};

	return fk_make_srq(pd->context, &x);
}

void fk_srq_end(uint32_t srq)
{
	fk_ring_free(&fk_srqp(srq)->rq);
	fk_devp(fk_srqp(srq)->dev)->srqs--;
	FK_GIVE(fk_v->srq, srq);
}

FK_EXPORT int ibv_destroy_srq(struct ibv_srq *ib)
{
	struct fk_usrq *srq = (struct fk_usrq *)ib;
	struct fk_vsrq *k = fk_srqp(srq->idx);
	int err = FK_VERB("destroy_srq", fk_ctx_name(ib->context));

	fk_vlock();
	if (!err && FK_LIVE(k, srq) && k->refs)
		err = EBUSY;
	if (!err && FK_LIVE(k, srq))
		fk_srq_end(srq->idx);
	fk_vunlock();
	if (err)
		return fk_verr(err);
	atomic_fetch_sub(&((struct fk_upd *)ib->pd)->refs, 1);
	if (srq->cq)
		atomic_fetch_sub(&((struct fk_ucq *)srq->cq)->refs, 1);
	if (srq->xrcd)
		atomic_fetch_sub(&((struct fk_uxrcd *)srq->xrcd)->refs, 1);
	pthread_mutex_destroy(&ib->mutex);
	pthread_cond_destroy(&ib->cond);
	free(srq);
	return 0;
}

int fk_srq_number(struct ibv_srq *ib, uint32_t *num)
{
	struct fk_usrq *srq = (struct fk_usrq *)ib;

	if (!srq->xrcd)
		return EINVAL;
	*num = srq->idx;
	return 0;
}

FK_EXPORT int ibv_modify_srq(struct ibv_srq *ib, struct ibv_srq_attr *a, int mask)
{
	struct fk_vsrq *k = fk_srqp(((struct fk_usrq *)ib)->idx);
	int err = FK_VERB("modify_srq", fk_ctx_name(ib->context));

	if (!err && (mask & ~IBV_SRQ_LIMIT))
		err = EOPNOTSUPP;
	if (!err && (mask & IBV_SRQ_LIMIT) && a->srq_limit > k->rq.depth)
		err = EINVAL;
	if (err)
		return fk_verr(err);
	fk_vlock();
	k->limit = a->srq_limit;
	fk_vunlock();
	return 0;
}

FK_EXPORT int ibv_query_srq(struct ibv_srq *ib, struct ibv_srq_attr *a)
{
	struct fk_vsrq *k = fk_srqp(((struct fk_usrq *)ib)->idx);
	int err = FK_VERB("query_srq", fk_ctx_name(ib->context));

	if (err)
		return fk_verr(err);
	a->max_wr = k->rq.depth;
	a->max_sge = k->max_sge;
	a->srq_limit = k->limit;
	return 0;
}

void fk_async_qp(uint32_t qp, enum ibv_event_type type)
{
	struct ibv_qp *ib = (struct ibv_qp *)(uintptr_t)fk_qpp(qp)->user;
	struct ibv_async_event ev = { .event_type = type, .element.qp = ib };

	if (fk_qpp(qp)->pid == fk_pid())
		fk_async_raise((uintptr_t)ib->context, &ev);
}

void fk_async_srq(uint32_t srq, enum ibv_event_type type)
{
	struct ibv_srq *ib = (struct ibv_srq *)(uintptr_t)fk_srqp(srq)->user;
	struct ibv_async_event ev = { .event_type = type, .element.srq = ib };

	if (fk_srqp(srq)->pid == fk_pid())
		fk_async_raise((uintptr_t)ib->context, &ev);
}

void fk_async_cq(uint32_t cq, enum ibv_event_type type)
{
	struct ibv_cq *ib = (struct ibv_cq *)(uintptr_t)fk_cqp(cq)->user;
	struct ibv_async_event ev = { .event_type = type, .element.cq = ib };

	if (fk_cqp(cq)->pid == fk_pid())
		fk_async_raise((uintptr_t)ib->context, &ev);
}
