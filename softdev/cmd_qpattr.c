/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* INIT_QP_ATTR: what the queue pair must be set to for the next state. */
#include "real.h"
#include "fake.h"
#include "conn.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

void fk_fill_ah(const struct fk_id *p, struct ib_uverbs_ah_attr *ah)
{
	const struct fk_dev *d = fk_devp(p->dev);
	bool roce = fk_roce(d, p->port);
	uint32_t index = 0;

	memset(ah, 0, sizeof(*ah));
	ah->port_num = (uint8_t)p->port;
	ah->sl = p->path.sl;
	ah->dlid = p->path.dlid;
	ah->is_global = roce;
	if (!roce)
		return;
	memcpy(ah->grh.dgid, p->path.dgid, 16);
	if (!memcmp(p->path.dgid, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16))
		memcpy(ah->grh.dgid, p->dgid, 16);
	for (uint32_t g = 0; g < d->port[p->port - 1].ngids; g++)
		if (!memcmp(d->port[p->port - 1].gid[g], p->sgid, 16))
			index = g;
	ah->grh.sgid_index = (uint8_t)index;
	ah->grh.hop_limit = 64;
	ah->grh.traffic_class = p->tos;
}

static bool cm_has(uint8_t cm, bool rtr)
{
	switch (cm) {
	case FK_CM_REQ_RCVD:
	case FK_CM_REP_SENT:
	case FK_CM_REP_RCVD:
	case FK_CM_ESTABLISHED:
		return true;
	case FK_CM_REQ_SENT:
		return !rtr;
	default:
		return false;
	}
}

static int pkey_index(const struct fk_id *p, uint16_t *index)
{
	const struct fk_port_cfg *c = &fk_devp(p->dev)->port[p->port - 1];

	for (uint32_t i = 0; i < c->npkeys; i++)
		if ((c->pkey[i] & 0x7fff) == (p->pkey & 0x7fff)) {
			*index = (uint16_t)i;
			return 0;
		}
	return -EINVAL;
}

static int attr_init(const struct fk_id *p, struct ib_uverbs_qp_attr *a)
{
	a->port_num = (uint8_t)p->port;
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	if (fk_is_ud(p)) {
		a->qkey = p->qkey ? p->qkey : FK_DEFAULT_QKEY;
		a->qp_attr_mask |= IBV_QP_QKEY;
	} else {
		a->qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
		if (p->cm != FK_CM_NONE) {
			a->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
			if (p->responder)
				a->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
		}
	}
	return pkey_index(p, &a->pkey_index);
}

static void attr_rtr(const struct fk_id *p, struct ib_uverbs_qp_attr *a)
{
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	fk_fill_ah(p, &a->ah_attr);
	a->path_mtu = p->path.mtu ? p->path.mtu : 5;
	a->dest_qp_num = p->remote.qp_num;
	a->rq_psn = p->remote.psn;
	if (p->qp_type == FK_QPT_RC || p->qp_type == FK_QPT_XRC_RECV) {
		a->qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		a->max_dest_rd_atomic = p->responder;
	}
	a->qp_attr_mask |= fk_k->tune.rtr_mask_extra;
}

static void attr_rts(const struct fk_id *p, struct ib_uverbs_qp_attr *a)
{
	bool active = !p->listener;
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	a->sq_psn = p->local.psn;
	if (p->qp_type != FK_QPT_RC && p->qp_type != FK_QPT_XRC_SEND)
		return;
	a->qp_attr_mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	a->timeout = p->ack_timeout_set ? p->ack_timeout : 18;
	a->retry_cnt = active ? p->local.retry : p->remote.retry;
	a->rnr_retry = p->remote.rnr;
	a->max_rd_atomic = p->initiator;
}

static int attr_iwarp(const struct fk_id *p, uint32_t state, struct ib_uverbs_qp_attr *a)
{
	if (state == IBV_QPS_RTS && p->cm != FK_CM_NONE)
		return 0;
	if (state != IBV_QPS_INIT && state != IBV_QPS_RTR)
		return -EINVAL;
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
	if (p->cm != FK_CM_NONE)
		a->qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ;
	return 0;
}

int fk_cmd_init_qp_attr(struct fk_call *c)
{
	struct rdma_ucm_init_qp_attr cmd;
	struct ib_uverbs_qp_attr a = { 0 };
	const struct fk_id *p;
	uint32_t id;
	int err = 0;

	if (c->out_len < sizeof(a))
		return -ENOSPC;
	fk_request(c, &cmd, sizeof(cmd));
	if (cmd.qp_state > IBV_QPS_ERR)
		return -EINVAL;
	id = fk_find_dev(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	a.qp_state = cmd.qp_state;
	if (fk_is_iwarp(p)) {
		err = attr_iwarp(p, cmd.qp_state, &a);
	} else if (p->cm == FK_CM_NONE || fk_is_ud(p)) {
		err = attr_init(p, &a);
	} else if (cmd.qp_state == IBV_QPS_INIT) {
		err = cm_has(p->cm, false) ? attr_init(p, &a) : -EINVAL;
	} else if (!cm_has(p->cm, true)) {
		err = -EINVAL;
	} else if (cmd.qp_state == IBV_QPS_RTR) {
		attr_rtr(p, &a);
	} else if (cmd.qp_state == IBV_QPS_RTS) {
		attr_rts(p, &a);
	} else {
		err = -EINVAL;
	}
	return err ? err : fk_respond(c, cmd.response, &a, sizeof(a));
}
