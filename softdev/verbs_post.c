/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Posting of work requests. */
#include "verbs.h"

#include <errno.h>
#include <string.h>

static int opcode_ok(const struct fk_vqp *k, const struct ibv_send_wr *wr)
{
	bool iwarp = fk_devp(k->dev)->transport == FK_TRANSPORT_IWARP;

	switch (wr->opcode) {
	case IBV_WR_SEND:
		return 1;
	case IBV_WR_SEND_WITH_IMM:
		return !iwarp;
	case IBV_WR_RDMA_WRITE:
		return k->type != IBV_QPT_UD;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return k->type != IBV_QPT_UD && !iwarp;
	case IBV_WR_RDMA_READ:
		return k->type == IBV_QPT_RC || k->type == IBV_QPT_XRC_SEND;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return (k->type == IBV_QPT_RC || k->type == IBV_QPT_XRC_SEND) && !iwarp;
	case IBV_WR_SEND_WITH_INV:
		return k->type == IBV_QPT_RC;
	default:
		return 0;
	}
}

static int copy_inline(struct fk_wqe *w, const struct ibv_send_wr *wr, uint32_t max)
{
	char *to = (char *)w->sge;
	uint32_t n = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		if (n + wr->sg_list[i].length > max)
			return EINVAL;
		memcpy(to + n, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		n += wr->sg_list[i].length;
	}
	w->inline_len = n;
	w->nsge = 0;
	return 0;
}

static int fill_dest(const struct fk_vqp *k, struct fk_wqe *w, const struct ibv_send_wr *wr)
{
	const struct fk_uah *ah;

	w->dest_qpn = k->attr.dest_qp_num;
	if (k->type == IBV_QPT_XRC_SEND)
		w->srqn = wr->qp_type.xrc.remote_srqn;
	if (k->type != IBV_QPT_UD)
		return 0;
	ah = (const struct fk_uah *)wr->wr.ud.ah;
	if (!ah)
		return EINVAL;
	w->dest_qpn = wr->wr.ud.remote_qpn;
	w->dest_qkey = wr->wr.ud.remote_qkey & 0x80000000 ? k->attr.qkey : wr->wr.ud.remote_qkey;
	memcpy(w->dgid, &ah->attr.grh.dgid, 16);
	w->global = ah->attr.is_global;
	w->group = ah->attr.is_global && fk_gid_multicast(ah->attr.grh.dgid.raw);
	w->dlid = ah->attr.dlid;
	w->tclass = ah->attr.grh.traffic_class;
	w->hop = ah->attr.grh.hop_limit;
	return 0;
}

static int post_one(struct fk_vqp *k, const struct ibv_send_wr *wr)
{
	struct fk_wqe *w;
	int err;

	if (k->state == IBV_QPS_RESET || k->state == IBV_QPS_INIT || k->state == IBV_QPS_RTR)
		return EINVAL;
	if (!opcode_ok(k, wr) || wr->num_sge < 0 || (uint32_t)wr->num_sge > k->max_send_sge)
		return EINVAL;
	w = fk_ring_push(&k->sq);
	if (!w)
		return ENOMEM;
	memset(w, 0, sizeof(*w));
	w->wr_id = wr->wr_id;
	w->pid = fk_pid();
	w->opcode = wr->opcode;
	w->flags = wr->send_flags;
	w->imm = wr->imm_data;
	w->nsge = (uint32_t)wr->num_sge;
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		w->remote = wr->wr.atomic.remote_addr;
		w->rkey = wr->wr.atomic.rkey;
		w->compare = wr->wr.atomic.compare_add;
		w->swap = wr->wr.atomic.swap;
	} else if (k->type != IBV_QPT_UD) {
		w->remote = wr->wr.rdma.remote_addr;
		w->rkey = wr->wr.rdma.rkey;
	}
	err = fill_dest(k, w, wr);
	if (!err && (wr->send_flags & IBV_SEND_INLINE)) {
		err = wr->opcode == IBV_WR_RDMA_READ ? EINVAL : copy_inline(w, wr, k->max_inline);
	} else if (!err) {
		for (int i = 0; i < wr->num_sge; i++)
			w->sge[i] = (struct fk_sge) { wr->sg_list[i].addr, wr->sg_list[i].length,
						      wr->sg_list[i].lkey };
	}
	if (err) {
		k->sq.count--;
		k->sq.used--;
	}
	return err;
}

int fk_post_send(struct ibv_qp *ib, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	uint32_t qp = ((struct fk_uqp *)ib)->idx;
	int err = FK_VERB("post_send", fk_ctx_name(ib->context));

	fk_vlock();
	if (!err && !FK_LIVE(fk_qpp(qp), (struct fk_uqp *)ib))
		err = EINVAL;
	for (; wr && !err; wr = wr->next) {
		err = post_one(fk_qpp(qp), wr);
		if (err)
			break;
	}
	if (fk_qpp(qp)->state == IBV_QPS_ERR)
		fk_qp_error(qp);
	else
		fk_qp_progress(qp);
	fk_vunlock();
	if (err) {
		*bad = wr;
		return fk_verr(err);
	}
	return 0;
}

static int push_recv(struct fk_ring *r, const struct ibv_recv_wr *wr, uint32_t max_sge)
{
	struct fk_wqe *w;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > max_sge)
		return EINVAL;
	w = fk_ring_push(r);
	if (!w)
		return ENOMEM;
	memset(w, 0, sizeof(*w));
	w->wr_id = wr->wr_id;
	w->pid = fk_pid();
	w->nsge = (uint32_t)wr->num_sge;
	for (int i = 0; i < wr->num_sge; i++)
		w->sge[i] = (struct fk_sge) { wr->sg_list[i].addr, wr->sg_list[i].length,
					      wr->sg_list[i].lkey };
	return 0;
}

int fk_post_recv(struct ibv_qp *ib, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	uint32_t qp = ((struct fk_uqp *)ib)->idx;
	struct fk_vqp *k = fk_qpp(qp);
	int err = FK_VERB("post_recv", fk_ctx_name(ib->context));

	fk_vlock();
	if (!err && (!FK_LIVE(k, (struct fk_uqp *)ib) || k->srq || k->state == IBV_QPS_RESET))
		err = EINVAL;
	for (; wr && !err; wr = wr->next) {
		err = push_recv(&k->rq, wr, k->max_recv_sge);
		if (err)
			break;
	}
	if (k->state == IBV_QPS_ERR)
		fk_qp_error(qp);
	else
		fk_qp_kick_senders(qp);
	fk_vunlock();
	if (err) {
		*bad = wr;
		return fk_verr(err);
	}
	return 0;
}

int fk_post_srq_recv(struct ibv_srq *ib, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	uint32_t srq = ((struct fk_usrq *)ib)->idx;
	int err = FK_VERB("post_srq_recv", fk_ctx_name(ib->context));

	fk_vlock();
	for (; wr && !err; wr = wr->next) {
		err = push_recv(&fk_srqp(srq)->rq, wr, fk_srqp(srq)->max_sge);
		if (err)
			break;
	}
	fk_srq_kick(srq);
	fk_vunlock();
	if (err) {
		*bad = wr;
		return fk_verr(err);
	}
	return 0;
}
