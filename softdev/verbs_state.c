/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queue pair states: ibv_modify_qp, ibv_query_qp, and what ERR means. */
#include "verbs.h"

#include <errno.h>
#include <string.h>

/* Objects that end in one hold of the lock. */
enum { STEP_OBJECTS = 64 };

static int allowed(int from, int to)
{
	switch (to) {
	case IBV_QPS_RESET:
	case IBV_QPS_ERR:
		return 1;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR:
		return from == IBV_QPS_INIT;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR || from == IBV_QPS_RTS || from == IBV_QPS_SQD;
	case IBV_QPS_SQD:
		return from == IBV_QPS_RTS || from == IBV_QPS_SQD;
	default:
		return 0;
	}
}

static int required(const struct fk_vqp *k, int to)
{
	bool ud = k->type == IBV_QPT_UD, rc = k->type != IBV_QPT_UC && !ud;

	if (fk_devp(k->dev)->transport == FK_TRANSPORT_IWARP)
		return 0;
	switch (to) {
	case IBV_QPS_INIT:
		if (k->state == IBV_QPS_INIT)
			return 0;
		return IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		if (ud)
			return 0;
		return IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       (rc && k->type != IBV_QPT_XRC_SEND ?
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
	case IBV_QPS_RTS:
		if (k->state != IBV_QPS_RTR)
			return 0;
		return IBV_QP_SQ_PSN | (rc && k->type != IBV_QPT_XRC_RECV ?
			IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);
	default:
		return 0;
	}
}

static void copy(struct fk_vqp *k, const struct ibv_qp_attr *a, int mask)
{
	struct ibv_qp_attr *t = &k->attr;

	if (mask & IBV_QP_ACCESS_FLAGS)
		t->qp_access_flags = a->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		t->pkey_index = a->pkey_index;
	if (mask & IBV_QP_PORT)
		t->port_num = a->port_num;
	if (mask & IBV_QP_QKEY)
		t->qkey = a->qkey;
	if (mask & IBV_QP_AV)
		t->ah_attr = a->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		t->path_mtu = a->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		t->timeout = a->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		t->retry_cnt = a->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		t->rnr_retry = a->rnr_retry;
	if (mask & IBV_QP_RQ_PSN)
		t->rq_psn = a->rq_psn;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		t->max_rd_atomic = a->max_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		t->min_rnr_timer = a->min_rnr_timer;
	if (mask & IBV_QP_SQ_PSN)
		t->sq_psn = a->sq_psn;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		t->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & IBV_QP_DEST_QPN)
		t->dest_qp_num = a->dest_qp_num;
}

static int check_values(const struct fk_vqp *k, const struct ibv_qp_attr *a, int mask)
{
	const struct fk_dev *d = fk_devp(k->dev);

	if ((mask & IBV_QP_PORT) && (!a->port_num || a->port_num > d->nports))
		return EINVAL;
	if ((mask & IBV_QP_PKEY_INDEX) && a->pkey_index >= FK_MAX_PKEYS)
		return EINVAL;
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && a->max_rd_atomic > d->max_rd_atom)
		return EINVAL;
	if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && a->max_dest_rd_atomic > d->max_rd_atom)
		return EINVAL;
	if ((mask & IBV_QP_AV) && fk_roce(d, a->ah_attr.port_num ? a->ah_attr.port_num : 1) &&
	    !a->ah_attr.is_global)
		return EINVAL;
	/* Bits above the last public one reach a driver that does not know them. */
	if ((mask & ~0x3ffffff) || ((mask & 0xe00000) && d->port[0].link_layer == FK_LINK_IB))
		return EINVAL;
	return 0;
}

static int modify(uint32_t qp, const struct ibv_qp_attr *a, int mask)
{
	struct fk_vqp *k = fk_qpp(qp);
	int to = mask & IBV_QP_STATE ? (int)a->qp_state : k->state;
	int need, err = check_values(k, a, mask);

	if (err)
		return err;
	if (mask & IBV_QP_STATE) {
		if (fk_devp(k->dev)->transport != FK_TRANSPORT_IWARP && !allowed(k->state, to))
			return EINVAL;
		need = required(k, to);
		if ((mask & need) != need)
			return EINVAL;
	}
	copy(k, a, mask);
	if (to == IBV_QPS_ERR) {
		fk_qp_error(qp);
		return 0;
	}
	if (to == IBV_QPS_RESET) {
		if (k->send_cq)
			fk_cq_forget_qp(k->send_cq, qp);
		if (k->recv_cq)
			fk_cq_forget_qp(k->recv_cq, qp);
		k->sq.count = k->sq.used = k->rq.count = k->rq.used = k->silent = 0;
	}
	k->state = (uint8_t)to;
	fk_qp_progress(qp);
	fk_qp_kick_senders(qp);
	return 0;
}

FK_EXPORT int ibv_modify_qp(struct ibv_qp *ib, struct ibv_qp_attr *a, int mask)
{
	uint32_t qp = ((struct fk_uqp *)ib)->idx;
	int err = FK_VERB("modify_qp", fk_ctx_name(ib->context));

	if (!err) {
		fk_vlock();
		err = FK_LIVE(fk_qpp(qp), (struct fk_uqp *)ib) ? modify(qp, a, mask) : EINVAL;
		if (!err)
			ib->state = fk_qpp(qp)->state;
		fk_vunlock();
	}
	fk_log_note("modify_qp %x state=%d mask=%x = %d", ib->qp_num,
		    mask & IBV_QP_STATE ? (int)a->qp_state : -1, mask, err);
	return err ? fk_verr(err) : 0;
}

FK_EXPORT int ibv_query_qp(struct ibv_qp *ib, struct ibv_qp_attr *a, int mask,
			   struct ibv_qp_init_attr *init)
{
	struct fk_vqp *k = fk_qpp(((struct fk_uqp *)ib)->idx);
	int err = FK_VERB("query_qp", fk_ctx_name(ib->context));

	(void)mask;
	if (err)
		return fk_verr(err);
	fk_vlock();
	*a = k->attr;
	a->qp_state = a->cur_qp_state = k->state;
	a->cap.max_send_wr = k->sq.depth;
	a->cap.max_recv_wr = k->rq.depth;
	a->cap.max_send_sge = k->max_send_sge;
	a->cap.max_recv_sge = k->max_recv_sge;
	a->cap.max_inline_data = k->max_inline;
	ib->state = k->state;
	memset(init, 0, sizeof(*init));
	init->qp_context = ib->qp_context;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->srq = ib->srq;
	init->cap = a->cap;
	init->qp_type = ib->qp_type;
	init->sq_sig_all = k->sig_all;
	fk_vunlock();
	return 0;
}

static void flush(uint32_t qp, struct fk_ring *r, uint32_t cq, bool recv)
{
	struct fk_vqp *k = fk_qpp(qp);
	struct fk_wqe *w;

	while ((w = fk_ring_first(r))) {
		struct fk_cqe e = {
			.wr_id = w->wr_id, .status = IBV_WC_WR_FLUSH_ERR, .qp_num = k->qpn,
			.opcode = recv ? IBV_WC_RECV : IBV_WC_SEND, .is_recv = recv,
			.qp = qp, .qp_gen = k->node.gen, .slots = 1,
		};

		if (!recv) {
			e.slots += k->silent;
			k->silent = 0;
		}
		fk_ring_drop(r);
		fk_cq_push(cq, &e, true);
	}
}

void fk_qp_error(uint32_t qp)
{
	struct fk_vqp *k = fk_qpp(qp);
	bool first = k->state != IBV_QPS_ERR;

	k->state = IBV_QPS_ERR;
	k->rnr_gen++;
	if (k->send_cq)
		flush(qp, &k->sq, k->send_cq, false);
	if (k->recv_cq)
		flush(qp, &k->rq, k->recv_cq, true);
	if (first && k->srq)
		fk_async_qp(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
	if (first)
		fk_qp_kick_senders(qp);
}

/* What an iWARP kernel does to the two queue pairs when it connects them. */
void fk_verbs_iwarp_connected(uint32_t qpn, uint32_t peer_qpn, bool up)
{
	uint32_t a, b;

	fk_vlock();
	a = fk_qp_by_num(qpn);
	b = fk_qp_by_num(peer_qpn);
	if (!up && a) {
		fk_qp_error(a);
	} else if (up && a && b) {
		fk_qpp(a)->attr.dest_qp_num = peer_qpn;
		fk_qpp(b)->attr.dest_qp_num = qpn;
		fk_qpp(a)->attr.rnr_retry = fk_qpp(b)->attr.rnr_retry = 7;
		/* Its devices let a connected peer write and read whatever the rights in INIT were. */
		fk_qpp(a)->attr.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
		fk_qpp(b)->attr.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
		fk_qpp(a)->state = fk_qpp(b)->state = IBV_QPS_RTS;
		fk_qp_progress(a);
		fk_qp_progress(b);
	}
	fk_vunlock();
}

void fk_verbs_dev_removed(uint32_t dev)
{
	struct ibv_async_event ev = { .event_type = IBV_EVENT_DEVICE_FATAL };

	fk_vlock();
	for (uint32_t i = 1; i <= fk_v->qp.pool.high; i++)
		if (fk_qpp(i)->node.live && fk_qpp(i)->dev == dev)
			fk_qp_error(i);
	fk_vunlock();
	fk_async_to_dev(dev, &ev);
}

/* Ends some of a process's objects, or what hangs on ended ones; true while something is left. */
bool fk_verbs_end_step(pid_t pid)
{
	int left = STEP_OBJECTS;

	fk_vlock();
	for (uint32_t i = 1; left && i <= fk_v->qp.pool.high; i++) {
		if (!fk_qpp(i)->node.live || fk_qpp(i)->pid != pid)
			continue;
		fk_qp_end(i);
		left--;
	}
	for (uint32_t i = 1; left && i <= fk_v->srq.pool.high; i++)
		if (fk_srqp(i)->node.live && fk_srqp(i)->pid == pid) {
			fk_srq_end(i);
			left--;
		}
	for (uint32_t i = 1; left && i <= fk_v->cq.pool.high; i++)
		if (fk_cqp(i)->node.live && fk_cqp(i)->pid == pid) {
			fk_cq_end(i);
			left--;
		}
	for (uint32_t i = 1; left && i <= fk_v->cc.pool.high; i++)
		if (fk_ccp(i)->node.live && fk_ccp(i)->pid == pid) {
			FK_GIVE(fk_v->cc, i);
			left--;
		}
	for (uint32_t i = 1; left && i <= fk_v->mr.pool.high; i++)
		if (fk_mrp(i)->node.live && fk_mrp(i)->pid == pid) {
			fk_mr_end(i);
			left--;
		}
	for (uint32_t i = 1; left && i <= fk_v->use.pool.high; i++)
		if (fk_usep(i)->node.live && fk_usep(i)->pid == pid) {
			fk_use_end(i);
			left--;
		}
	fk_vunlock();
	return !left;
}
