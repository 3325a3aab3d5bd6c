/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues and their channels. */
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

enum { ACK_LIMIT_S = 5 };

FK_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	int err = FK_VERB("create_comp_channel", fk_ctx_name(c));
	struct fk_ucc *cc = err ? NULL : calloc(1, sizeof(*cc));

	if (!cc)
		return FK_NULL(err ? err : ENOMEM);
	cc->ib.context = c;
	cc->ib.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (cc->ib.fd < 0) {
		err = errno;
		free(cc);
		return FK_NULL(err);
	}
	fk_vlock();
	cc->idx = FK_TAKE(fk_v->cc);
	if (cc->idx) {
		fk_ccp(cc->idx)->pid = fk_pid();
		fk_ccp(cc->idx)->fd = cc->ib.fd;
		cc->gen = fk_ccp(cc->idx)->node.gen;
	}
	fk_vunlock();
	if (!cc->idx) {
		REAL(close)(cc->ib.fd);
		free(cc);
		return FK_NULL(ENOMEM);
	}
	return &cc->ib;
}

FK_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ib)
{
	struct fk_ucc *cc = (struct fk_ucc *)ib;
	int err = FK_VERB("destroy_comp_channel", fk_ctx_name(ib->context));

	fk_vlock();
	if (!err && ib->refcnt)
		err = EBUSY;
	if (!err && FK_LIVE(fk_ccp(cc->idx), cc))
		FK_GIVE(fk_v->cc, cc->idx);
	fk_vunlock();
	if (err)
		return fk_verr(err);
	REAL(close)(ib->fd);
	free(cc);
	return 0;
}

#undef ibv_create_cq
FK_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *c, int cqe, void *context,
				       struct ibv_comp_channel *channel, int vector)
{
	int err = FK_VERB("create_cq", fk_ctx_name(c));
	struct fk_dev *d = fk_devp(fk_uctx(c)->dev);
	struct fk_ucq *cq;
	struct fk_vcq *k;

	if (!err && (cqe < 1 || (uint32_t)cqe > d->max_cqe || vector < 0 ||
		     vector >= c->num_comp_vectors))
		err = EINVAL;
	cq = err ? NULL : calloc(1, sizeof(*cq));
	if (!cq)
		return FK_NULL(err ? err : ENOMEM);
	fk_vlock();
	cq->idx = d->cqs < d->max_cq && (!channel || FK_LIVE(fk_ccp(((struct fk_ucc *)channel)->idx), (struct fk_ucc *)channel)) ?
		  FK_TAKE(fk_v->cq) : 0;
	k = fk_cqp(cq->idx);
	if (cq->idx) {
		k->depth = (uint32_t)cqe;
		k->ring = fk_heap_take(k->depth * sizeof(struct fk_cqe));
		if (!k->ring) {
			FK_GIVE(fk_v->cq, cq->idx);
			cq->idx = 0;
		}
	}
	if (!cq->idx) {
		fk_vunlock();
		free(cq);
		return FK_NULL(ENOMEM);
	}
	cq->gen = k->node.gen;
	k->pid = fk_pid();
	k->user = (uintptr_t)&cq->ib;
	k->dev = fk_uctx(c)->dev;
	k->cc = channel ? ((struct fk_ucc *)channel)->idx : 0;
	d->cqs++;
	if (channel)
		channel->refcnt++;
	fk_vunlock();
	cq->ib.context = c;
	cq->ib.channel = channel;
	cq->ib.cq_context = context;
	cq->ib.handle = cq->idx;
	cq->ib.cqe = cqe;
	pthread_mutex_init(&cq->ib.mutex, NULL);
	pthread_cond_init(&cq->ib.cond, NULL);
	return &cq->ib;
}

static void take_back(struct fk_vcc *cc)
{
	if (cc->owed)
		cc->owed--;
	else if (cc->pid == fk_pid())
		fk_take_signal(cc->fd);
}

static void leave_channel(uint32_t cq)
{
	struct fk_vcc *cc = fk_ccp(fk_cqp(cq)->cc);
	uint32_t prev = 0, i = cc->head;

	if (!fk_cqp(cq)->in_cc)
		return;
	while (i && i != cq) {
		prev = i;
		i = fk_cqp(i)->cc_next;
	}
	if (!i)
		return;
	if (prev)
		fk_cqp(prev)->cc_next = fk_cqp(i)->cc_next;
	else
		cc->head = fk_cqp(i)->cc_next;
	if (cc->tail == i)
		cc->tail = prev;
	fk_cqp(cq)->in_cc = 0;
}

void fk_cq_end(uint32_t cq)
{
	struct fk_vcq *k = fk_cqp(cq);

	if (k->cc)
		leave_channel(cq);
	fk_devp(k->dev)->cqs--;
	fk_heap_give(k->ring, k->depth * sizeof(struct fk_cqe));
	atomic_store(&k->count, 0);
	FK_GIVE(fk_v->cq, cq);
}

FK_EXPORT int ibv_destroy_cq(struct ibv_cq *ib)
{
	struct fk_ucq *cq = (struct fk_ucq *)ib;
	struct fk_vcq *k = fk_cqp(cq->idx);
	int err = FK_VERB("destroy_cq", fk_ctx_name(ib->context));
	struct timespec end;
	uint32_t delivered;

	if (!err && atomic_load(&cq->refs))
		err = EBUSY;
	if (err)
		return fk_verr(err);
	fk_vlock();
	if (ib->channel)
		ib->channel->refcnt--;
	delivered = ib->comp_events_completed;
	if (FK_LIVE(k, cq)) {
		while (k->cc && k->events) {
			k->events--;
			take_back(fk_ccp(k->cc));
		}
		delivered = k->delivered;
		fk_cq_end(cq->idx);
	}
	fk_vunlock();
	/* The real one waits here for ever when an event was not acknowledged. */
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += ACK_LIMIT_S;
	pthread_mutex_lock(&ib->mutex);
	while (!err && ib->comp_events_completed != delivered)
		err = pthread_cond_timedwait(&ib->cond, &ib->mutex, &end);
	pthread_mutex_unlock(&ib->mutex);
	if (err)
		fprintf(stderr, "rdmafake: ibv_destroy_cq with %u events not acknowledged\n",
			delivered - ib->comp_events_completed);
	pthread_mutex_destroy(&ib->mutex);
	pthread_cond_destroy(&ib->cond);
	free(cq);
	return 0;
}

FK_EXPORT int ibv_resize_cq(struct ibv_cq *ib, int cqe)
{
	struct fk_vcq *k = fk_cqp(((struct fk_ucq *)ib)->idx);
	int err = FK_VERB("resize_cq", fk_ctx_name(ib->context));
	uint64_t ring = 0;
	uint32_t n;

	fk_vlock();
	n = atomic_load(&k->count);
	if (!err && (cqe < 1 || (uint32_t)cqe < n))
		err = EINVAL;
	if (!err && !(ring = fk_heap_take((uint64_t)cqe * sizeof(struct fk_cqe))))
		err = ENOMEM;
	if (!err) {
		struct fk_cqe *from = fk_at(k->ring), *to = fk_at(ring);

		for (uint32_t i = 0; i < n; i++)
			to[i] = from[(k->head + i) % k->depth];
		fk_heap_give(k->ring, k->depth * sizeof(struct fk_cqe));
		k->ring = ring;
		k->head = 0;
		k->depth = (uint32_t)cqe;
		ib->cqe = cqe;
	}
	fk_vunlock();
	return err ? fk_verr(err) : 0;
}

static void notify(uint32_t cq)
{
	struct fk_vcq *k = fk_cqp(cq);
	struct fk_vcc *cc = fk_ccp(k->cc);
	uint64_t one = 1;

	k->armed = 0;
	if (!k->cc)
		return;
	k->events++;
	if (!k->in_cc) {
		k->in_cc = 1;
		k->cc_next = 0;
		if (cc->tail)
			fk_cqp(cc->tail)->cc_next = cq;
		else
			cc->head = cq;
		cc->tail = cq;
	}
	if (cc->pid == fk_pid()) {
		if (REAL(write)(cc->fd, &one, sizeof(one)) < 0)
			fk_log_note("lost completion event");
	} else {
		cc->owed++;
		fk_wake_process(cc->pid);
	}
}

void fk_verbs_pay_wakes(void)
{
	uint64_t one = 1;

	fk_vlock();
	for (uint32_t i = 1; i <= fk_v->cc.pool.high; i++)
		while (fk_ccp(i)->node.live && fk_ccp(i)->owed && fk_ccp(i)->pid == fk_pid()) {
			fk_ccp(i)->owed--;
			if (REAL(write)(fk_ccp(i)->fd, &one, sizeof(one)) < 0)
				break;
		}
	fk_vunlock();
}

void fk_cq_push(uint32_t cq, const struct fk_cqe *e, bool solicited)
{
	struct fk_vcq *k = fk_cqp(cq);
	uint32_t n = atomic_load(&k->count);

	if (n == k->depth) {
		if (!k->overrun)
			fk_async_cq(cq, IBV_EVENT_CQ_ERR);
		k->overrun = 1;
		return;
	}
	((struct fk_cqe *)fk_at(k->ring))[(k->head + n) % k->depth] = *e;
	atomic_store_explicit(&k->count, n + 1, memory_order_release);
	if (k->armed == 1 || (k->armed == 2 && (solicited || e->status)))
		notify(cq);
}

/* A destroyed queue pair takes its completions with it. */
void fk_cq_forget_qp(uint32_t cq, uint32_t qp)
{
	struct fk_vcq *k = fk_cqp(cq);
	struct fk_cqe *ring = fk_at(k->ring);
	uint32_t n = atomic_load(&k->count), kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct fk_cqe *e = &ring[(k->head + i) % k->depth];

		if (e->qp == qp && e->qp_gen == fk_qpp(qp)->node.gen)
			continue;
		ring[(k->head + kept++) % k->depth] = *e;
	}
	atomic_store(&k->count, kept);
}

static void fill_wc(struct ibv_wc *wc, const struct fk_cqe *e)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = e->wr_id;
	wc->status = e->status;
	wc->opcode = e->opcode;
	wc->byte_len = e->byte_len;
	wc->imm_data = e->imm;
	if (e->flags & IBV_WC_WITH_INV)
		wc->invalidated_rkey = e->inv_rkey;
	wc->qp_num = e->qp_num;
	wc->src_qp = e->src_qp;
	wc->wc_flags = e->flags;
	wc->slid = e->slid;
	wc->sl = e->sl;
}

int fk_poll_cq(struct ibv_cq *ib, int want, struct ibv_wc *wc)
{
	struct fk_vcq *k = fk_cqp(((struct fk_ucq *)ib)->idx);
	int n = 0, err = FK_VERB("poll_cq", fk_ctx_name(ib->context));

	if (err)
		return -err;
	/* Spinning pollers must not fight for the lock. */
	if (!atomic_load_explicit(&k->count, memory_order_acquire))
		return 0;
	fk_vlock();
	while (n < want && FK_LIVE(k, (struct fk_ucq *)ib) && atomic_load(&k->count)) {
		struct fk_cqe *e = &((struct fk_cqe *)fk_at(k->ring))[k->head];
		struct fk_vqp *qp = fk_qpp(e->qp);

		fill_wc(&wc[n++], e);
		if (qp->node.live && qp->node.gen == e->qp_gen) {
			if (e->is_recv && !qp->srq)
				qp->rq.used -= e->slots;
			else if (!e->is_recv)
				qp->sq.used -= e->slots;
		}
		k->head = (k->head + 1) % k->depth;
		atomic_fetch_sub(&k->count, 1);
	}
	fk_vunlock();
	return n;
}

int fk_req_notify(struct ibv_cq *ib, int solicited)
{
	struct fk_vcq *k = fk_cqp(((struct fk_ucq *)ib)->idx);
	int err = FK_VERB("req_notify_cq", fk_ctx_name(ib->context));

	if (err)
		return fk_verr(err);
	fk_vlock();
	if (!FK_LIVE(k, (struct fk_ucq *)ib))
		err = EINVAL;
	else if (k->armed != 1)
		k->armed = solicited ? 2 : 1;
	fk_vunlock();
	return err ? fk_verr(err) : 0;
}

FK_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ib, struct ibv_cq **cq, void **context)
{
	struct fk_vcc *cc = fk_ccp(((struct fk_ucc *)ib)->idx);
	int err = FK_VERB("get_cq_event", fk_ctx_name(ib->context));
	uint64_t unit;
	uint32_t i = 0;

	if (err) {
		errno = err;
		return -1;
	}
	while (!i) {
		if (REAL(read)(ib->fd, &unit, sizeof(unit)) < 0)
			return -1;
		fk_vlock();
		err = FK_LIVE(cc, (struct fk_ucc *)ib) ? 0 : EBADF;
		i = err ? 0 : cc->head;
		if (i) {
			struct fk_vcq *k = fk_cqp(i);

			*cq = (struct ibv_cq *)(uintptr_t)k->user;
			*context = (*cq)->cq_context;
			k->delivered++;
			if (!--k->events)
				leave_channel(i);
		}
		fk_vunlock();
		if (err) {
			errno = err;
			return -1;
		}
	}
	return 0;
}

FK_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)FK_VERB("ack_cq_events", fk_ctx_name(cq->context));
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += n;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
