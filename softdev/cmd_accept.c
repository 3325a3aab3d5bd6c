/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* ACCEPT, REJECT, DISCONNECT: the rest of the connection protocol. */
#include "real.h"
#include "fake.h"
#include "conn.h"

#include <errno.h>
#include <string.h>

enum { REJ_CONSUMER = 28, REJ_VENDOR_OPTION = 35, SIDR_REJECT = 2 };

static void accept_ud(uint32_t id, const struct rdma_ucm_accept *cmd)
{
	struct fk_id *p = fk_idp(id);
	uint32_t peer = fk_peer(p), ev;
	struct rdma_ucm_ud_param *ud;

	p->cm = FK_CM_SIDR_DONE;
	p->qkey = p->local.qkey ? p->local.qkey : FK_DEFAULT_QKEY;
	if (!peer || fk_idp(peer)->cm != FK_CM_SIDR_SENT)
		return;
	fk_idp(peer)->cm = FK_CM_SIDR_DONE;
	if (!fk_idp(peer)->uid)
		return;
	ev = fk_event_new(peer, FK_EV_ESTABLISHED, 0);
	if (!ev)
		return;
	ud = &fk_event_resp(ev)->param.ud;
	ud->qp_num = p->local.qp_num;
	ud->qkey = p->qkey;
	fk_fill_ah(fk_idp(peer), &ud->ah_attr);
	fk_event_pdata(ev, cmd->conn_param.private_data, cmd->conn_param.private_data_len,
		       fk_pdata_room(p, FK_MSG_REP));
	fk_event_post(fk_idp(peer)->chan, ev);
}

static void answer_peer(uint32_t id, uint32_t type, const struct rdma_ucm_accept *cmd)
{
	struct fk_id *p = fk_idp(id);
	uint32_t peer = fk_peer(p), ev;

	if (!peer || !fk_idp(peer)->uid)
		return;
	ev = fk_event_new(peer, type, 0);
	if (!ev)
		return;
	fk_event_conn(ev, &p->local);
	/* A reply does not have that. */
	fk_event_resp(ev)->param.conn.retry_count = 0;
	fk_event_pdata(ev, cmd->conn_param.private_data, cmd->conn_param.private_data_len,
		       fk_pdata_room(p, FK_MSG_REP));
	fk_event_post(fk_idp(peer)->chan, ev);
}

static void reject_peer(uint32_t id, int reason, const void *data, size_t len)
{
	struct fk_id *p = fk_idp(id);
	uint32_t peer = fk_peer(p), ev;

	p->cm = FK_CM_IDLE;
	if (!peer)
		return;
	fk_idp(peer)->cm = FK_CM_IDLE;
	if (!fk_idp(peer)->uid || fk_idp(peer)->child_pending)
		return;
	if (fk_is_ud(p)) {
		fk_sidr_refused(peer, SIDR_REJECT, data, len);
		return;
	}
	ev = fk_event_new(peer, FK_EV_REJECTED, fk_is_iwarp(p) ? -ECONNREFUSED : reason);
	if (ev) {
		fk_event_pdata(ev, data, len, fk_pdata_room(p, FK_MSG_REJ));
		fk_event_post(fk_idp(peer)->chan, ev);
	}
}

static int accept_rc(uint32_t id, const struct rdma_ucm_accept *cmd)
{
	struct fk_id *p = fk_idp(id);
	uint32_t peer = fk_peer(p);

	if (p->cm != FK_CM_REQ_RCVD || !peer)
		return -EINVAL;
	if (cmd->conn_param.private_data_len > fk_pdata_room(p, FK_MSG_REP)) {
		reject_peer(id, REJ_CONSUMER, "", 0);
		return -EINVAL;
	}
	p->uid = cmd->uid;
	fk_idp(peer)->remote = p->local;
	fk_depths(p, p->local.responder, p->local.initiator);
	fk_depths(fk_idp(peer), p->local.initiator, p->local.responder);
	if (!fk_is_iwarp(p)) {
		p->cm = FK_CM_REP_SENT;
		fk_idp(peer)->cm = FK_CM_REP_RCVD;
		answer_peer(id, FK_EV_CONNECT_RESPONSE, cmd);
		return 0;
	}
	/* An iWARP kernel finishes the connection and the queue pairs itself. */
	p->cm = fk_idp(peer)->cm = FK_CM_ESTABLISHED;
	fk_verbs_iwarp_connected(p->local.qp_num, p->remote.qp_num, true);
	fk_event_simple(id, FK_EV_ESTABLISHED, 0);
	answer_peer(id, FK_EV_ESTABLISHED, cmd);
	return 0;
}

/* Without parameters it is the active side's last word. */
static int accept_last(uint32_t id)
{
	struct fk_id *p = fk_idp(id);
	uint32_t peer = fk_peer(p);

	if (p->cm != FK_CM_REP_RCVD) {
		if (p->cm == FK_CM_REQ_RCVD)
			reject_peer(id, REJ_CONSUMER, "", 0);
		return -EINVAL;
	}
	p->cm = FK_CM_ESTABLISHED;
	if (peer && fk_idp(peer)->cm == FK_CM_REP_SENT) {
		fk_idp(peer)->cm = FK_CM_ESTABLISHED;
		fk_event_simple(peer, FK_EV_ESTABLISHED, 0);
	}
	return 0;
}

int fk_cmd_accept(struct fk_call *c)
{
	struct rdma_ucm_accept cmd;
	struct fk_id *p;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find_dev(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	if (p->state != FK_CONNECT)
		return -EINVAL;
	if (cmd.conn_param.valid) {
		fk_conn_take(&p->local, &cmd.conn_param, p->src.ss_family == AF_IB);
		if (c->in_len >= sizeof(cmd) && fk_k->tune.ece) {
			p->local.ece_vendor = cmd.ece.vendor_id;
			p->local.ece_mod = cmd.ece.attr_mod;
		}
	}
	if (fk_is_ud(p)) {
		if (p->cm != FK_CM_SIDR_RCVD)
			return -EINVAL;
		if (cmd.conn_param.valid)
			p->uid = cmd.uid;
		else
			cmd.conn_param.private_data_len = 0;
		if (cmd.conn_param.private_data_len > fk_pdata_room(p, FK_MSG_REP)) {
			reject_peer(id, REJ_CONSUMER, "", 0);
			return -EINVAL;
		}
		accept_ud(id, &cmd);
		return 0;
	}
	return cmd.conn_param.valid ? accept_rc(id, &cmd) : accept_last(id);
}

int fk_cmd_reject(struct fk_call *c)
{
	struct rdma_ucm_reject cmd;
	struct fk_id *p;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	if (!cmd.reason)
		cmd.reason = REJ_CONSUMER;
	if (cmd.reason != REJ_CONSUMER && cmd.reason != REJ_VENDOR_OPTION)
		return -EINVAL;
	id = fk_find_dev(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	switch (p->cm) {
	case FK_CM_REQ_RCVD:
	case FK_CM_REQ_SENT:
	case FK_CM_REP_SENT:
	case FK_CM_REP_RCVD:
	case FK_CM_SIDR_RCVD:
		break;
	default:
		return -EINVAL;
	}
	if (cmd.private_data_len > fk_pdata_room(p, FK_MSG_REJ))
		return -EINVAL;
	reject_peer(id, cmd.reason, cmd.private_data, cmd.private_data_len);
	return 0;
}

static void timewait_over(uint64_t arg)
{
	uint32_t id = (uint32_t)arg;

	fk_lock();
	if (fk_idp(id)->node.live && fk_idp(id)->node.gen == (uint32_t)(arg >> 32) &&
	    fk_idp(id)->cm == FK_CM_TIMEWAIT) {
		fk_idp(id)->cm = FK_CM_IDLE;
		fk_event_simple(id, FK_EV_TIMEWAIT_EXIT, 0);
	}
	fk_unlock();
}

static void enter_timewait(uint32_t id)
{
	fk_idp(id)->cm = FK_CM_TIMEWAIT;
	if (fk_k->tune.timewait_ms)
		fk_timer(fk_k->tune.timewait_ms, timewait_over,
			 (uint64_t)fk_idp(id)->node.gen << 32 | id);
}

static void goodbye(uint32_t id)
{
	fk_idp(id)->state = FK_DISCONNECT;
	fk_event_simple(id, FK_EV_DISCONNECTED, 0);
}

/* The peer never answered. */
static void dreq_over(uint64_t arg)
{
	uint32_t id = (uint32_t)arg;

	fk_lock();
	if (fk_idp(id)->node.live && fk_idp(id)->node.gen == (uint32_t)(arg >> 32) &&
	    fk_idp(id)->cm == FK_CM_DREQ_SENT) {
		enter_timewait(id);
		fk_idp(id)->state = FK_DISCONNECT;
		fk_event_simple(id, FK_EV_DISCONNECTED, -ETIMEDOUT);
	}
	fk_unlock();
}

int fk_cmd_disconnect(struct fk_call *c)
{
	struct rdma_ucm_disconnect cmd;
	struct fk_id *p;
	uint32_t id, peer;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find_dev(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	peer = fk_peer(p);
	if (p->cm == FK_CM_NONE)
		return -EINVAL;
	if (fk_is_iwarp(p)) {
		if (p->cm != FK_CM_ESTABLISHED)
			return -EINVAL;
		p->cm = FK_CM_IDLE;
		fk_verbs_iwarp_connected(p->local.qp_num, 0, false);
		goodbye(id);
		if (peer && fk_idp(peer)->cm == FK_CM_ESTABLISHED) {
			fk_idp(peer)->cm = FK_CM_IDLE;
			fk_verbs_iwarp_connected(fk_idp(peer)->local.qp_num, 0, false);
			goodbye(peer);
		}
		return 0;
	}
	/* The one who asks hears of the end only when the other has answered. */
	if (p->cm == FK_CM_ESTABLISHED) {
		p->cm = FK_CM_DREQ_SENT;
		if (peer && fk_idp(peer)->cm == FK_CM_ESTABLISHED) {
			fk_idp(peer)->cm = FK_CM_DREQ_RCVD;
			goodbye(peer);
			if (fk_k->tune.dreq_ms)
				fk_timer(fk_k->tune.dreq_ms, dreq_over,
					 (uint64_t)p->node.gen << 32 | id);
		} else if (!peer) {
			enter_timewait(id);
			goodbye(id);
		}
	} else if (p->cm == FK_CM_DREQ_RCVD) {
		enter_timewait(id);
		if (peer && fk_idp(peer)->cm == FK_CM_DREQ_SENT) {
			enter_timewait(peer);
			goodbye(peer);
		}
	}
	return 0;
}
