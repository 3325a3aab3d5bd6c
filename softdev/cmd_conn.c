/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* LISTEN and CONNECT: from the active id to the listener's queue. */
#include "real.h"
#include "fake.h"
#include "conn.h"

#include <errno.h>
#include <infiniband/ib.h>
#include <string.h>

int fk_cmd_listen(struct fk_call *c)
{
	struct rdma_ucm_listen cmd;
	struct fk_id *p;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	if (p->state == FK_IDLE) {
		p->src.ss_family = AF_INET;
		p->afonly = 1;
		err = fk_port_get(id);
		if (err)
			return err;
		p->state = FK_ADDR_BOUND;
	}
	if (p->state != FK_ADDR_BOUND)
		return -EINVAL;
	if (p->reuse) {
		err = fk_port_check(id, false);
		if (err)
			return err;
	}
	p->backlog = cmd.backlog && (int)cmd.backlog > 0 && cmd.backlog < fk_k->tune.max_backlog ?
		cmd.backlog : fk_k->tune.max_backlog;
	p->state = FK_LISTEN;
	if (p->dev)
		p->cm = FK_CM_LISTEN;
	return 0;
}

/* What one side answers is what the other may ask. */
void fk_depths(struct fk_id *p, uint8_t responder, uint8_t initiator)
{
	p->responder = responder;
	p->initiator = initiator;
}

void fk_conn_take(struct fk_conn *to, const struct rdma_ucm_conn_param *p, bool qkey)
{
	to->qp_num = p->qp_num;
	to->qkey = qkey ? p->qkey : 0;
	to->srq = p->srq;
	to->responder = p->responder_resources;
	to->initiator = p->initiator_depth;
	to->flow = p->flow_control;
	to->retry = p->retry_count & 7;
	to->rnr = p->rnr_retry_count & 7;
}

/* Room for the caller's bytes in each message of the connection protocol. */
size_t fk_pdata_room(const struct fk_id *p, enum fk_msg msg)
{
	const size_t header = p->src.ss_family == AF_IB ? 0 : 36;

	if (fk_is_iwarp(p))
		return 255;
	switch (msg) {
	case FK_MSG_REQ:
		return (fk_is_ud(p) ? 216 : 92) - header;
	case FK_MSG_REP:
		return fk_is_ud(p) ? 136 : 196;
	default:
		return fk_is_ud(p) ? 136 : 148;
	}
}

static uint32_t target_dev(const struct fk_id *p)
{
	if (fk_sa_any(&p->dst))
		return p->dev;
	if (p->dst.ss_family == AF_IB)
		return fk_dev_of_gid(((const struct sockaddr_ib *)&p->dst)->sib_addr.sib_raw, NULL, NULL);
	return fk_dev_of_ip(&p->dst);
}

/* A refusal is a message of full size, too. */
void fk_sidr_refused(uint32_t id, int status, const void *data, size_t len)
{
	uint32_t ev;

	if (!fk_idp(id)->uid || fk_idp(id)->child_pending)
		return;
	ev = fk_event_new(id, FK_EV_UNREACHABLE, status);
	if (!ev)
		return;
	fk_event_pdata(ev, data, len, fk_pdata_room(fk_idp(id), FK_MSG_REJ));
	fk_event_post(fk_idp(id)->chan, ev);
}

static void no_listener(uint32_t id)
{
	enum { REJ_NO_SERVICE = 8, SIDR_UNSUPPORTED = 1 };
	struct fk_id *p = fk_idp(id);
	uint32_t ev;

	p->cm = FK_CM_IDLE;
	if (fk_is_ud(p)) {
		fk_sidr_refused(id, SIDR_UNSUPPORTED, "", 0);
		return;
	}
	if (!p->uid)
		return;
	ev = fk_event_new(id, FK_EV_REJECTED, fk_is_iwarp(p) ? -ECONNREFUSED : REJ_NO_SERVICE);
	if (ev) {
		fk_event_pdata(ev, "", 0, fk_is_iwarp(p) ? 0 : 148);
		fk_event_post(p->chan, ev);
	}
}

static void fill_child(uint32_t child, uint32_t id, uint32_t listener, uint32_t dev)
{
	struct fk_id *n = fk_idp(child), *p = fk_idp(id), *l = fk_idp(listener);

	n->child_pending = 1;
	n->listener = listener;
	n->listener_gen = l->node.gen;
	n->ps = l->ps;
	n->qp_type = p->qp_type;
	n->state = FK_CONNECT;
	n->cm = fk_is_ud(p) ? FK_CM_SIDR_RCVD : FK_CM_REQ_RCVD;
	n->tos = l->tos;
	memcpy(&n->src, &p->dst, sizeof(n->src));
	memcpy(&n->dst, &p->src, sizeof(n->dst));
	fk_id_attach(child, dev);
	n->pkey = p->pkey;
	memcpy(n->sgid, p->dgid, 16);
	memcpy(n->dgid, p->sgid, 16);
	/* A datagram's request comes without a path. */
	n->npaths = fk_is_ud(p) ? 0 : p->npaths;
	n->path = p->path;
	memcpy(n->path.sgid, p->path.dgid, 16);
	memcpy(n->path.dgid, p->path.sgid, 16);
	n->path.slid = p->path.dlid;
	n->path.dlid = p->path.slid;
	n->remote = p->local;
	fk_depths(n, p->local.initiator, p->local.responder);
	n->peer = id;
	n->peer_gen = p->node.gen;
	p->peer = child;
	p->peer_gen = n->node.gen;
}

/* Puts the request into the listener's queue; false: its backlog is full. */
static bool deliver(uint32_t id, uint32_t listener, uint32_t dev)
{
	struct fk_id *p = fk_idp(id), *l = fk_idp(listener);
	uint32_t child, ev;

	if (!l->backlog)
		return false;
	child = fk_id_new(l->chan);
	if (!child)
		return false;
	fill_child(child, id, listener, dev);
	ev = fk_event_new(listener, FK_EV_CONNECT_REQUEST, 0);
	if (!ev) {
		fk_idp(child)->cm = FK_CM_IDLE;
		fk_id_destroy(child);
		return false;
	}
	fk_event_resp(ev)->id = fk_idp(child)->handle;
	fk_eventp(ev)->child = child;
	if (!fk_is_ud(p))
		fk_event_conn(ev, &p->local);
	fk_event_pdata(ev, p->req, p->req_len, fk_pdata_room(p, FK_MSG_REQ));
	l->backlog--;
	p->waits_for = 0;
	fk_event_post(l->chan, ev);
	return true;
}

/* A full backlog drops requests; the sender repeats them until there is room. */
void fk_listener_room(uint32_t listener)
{
	struct fk_id *l = fk_idp(listener);

	if (!l->waiting)
		return;
	for (uint32_t i = 1; i <= fk_k->id.pool.high && l->backlog; i++) {
		struct fk_id *p = fk_idp(i);

		if (!p->node.live || p->waits_for != listener || p->waits_gen != l->node.gen)
			continue;
		if (deliver(i, listener, target_dev(p)))
			l->waiting--;
	}
}

void fk_listener_gone(uint32_t listener)
{
	struct fk_id *l = fk_idp(listener);

	for (uint32_t i = 1; l->waiting && i <= fk_k->id.pool.high; i++) {
		struct fk_id *p = fk_idp(i);

		if (!p->node.live || p->waits_for != listener || p->waits_gen != l->node.gen)
			continue;
		p->waits_for = 0;
		l->waiting--;
		no_listener(i);
	}
}

/* A listener whose process died a moment ago. */
static bool dead_listener(uint32_t id)
{
	uint32_t dev = target_dev(fk_idp(id));
	uint32_t listener = dev ? fk_port_listener(id, &fk_idp(id)->dst, dev) : 0;

	return listener && fk_chan_dead(fk_idp(listener)->chan);
}

static int do_connect(uint32_t id, const struct rdma_ucm_connect *cmd)
{
	struct fk_id *p = fk_idp(id);
	uint32_t dev, listener;

	if (p->state != FK_ROUTE_RESOLVED)
		return -EINVAL;
	if (cmd->conn_param.private_data_len > fk_pdata_room(p, FK_MSG_REQ))
		return -EINVAL;
	p->state = FK_CONNECT;
	fk_conn_take(&p->local, &cmd->conn_param, p->src.ss_family == AF_IB);
	p->local.ece_vendor = cmd->ece.vendor_id;
	p->local.ece_mod = cmd->ece.attr_mod;
	fk_depths(p, p->local.responder, p->local.initiator);
	p->req_len = cmd->conn_param.private_data_len;
	memcpy(p->req, cmd->conn_param.private_data, p->req_len);
	p->cm = fk_is_ud(p) ? FK_CM_SIDR_SENT : FK_CM_REQ_SENT;
	dev = target_dev(p);
	if (!dev) {
		p->cm = FK_CM_IDLE;
		fk_event_simple(id, FK_EV_UNREACHABLE, fk_k->tune.unreachable_status);
		return 0;
	}
	listener = fk_port_listener(id, &p->dst, dev);
	if (!listener) {
		no_listener(id);
	} else if (!deliver(id, listener, dev)) {
		p->waits_for = listener;
		p->waits_gen = fk_idp(listener)->node.gen;
		fk_idp(listener)->waiting++;
	}
	return 0;
}

int fk_cmd_connect(struct fk_call *c)
{
	struct rdma_ucm_connect cmd;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	if (c->in_len < sizeof(cmd) || !fk_k->tune.ece)
		memset(&cmd.ece, 0, sizeof(cmd.ece));
	if (!cmd.conn_param.valid)
		return -EINVAL;
	id = fk_find_dev(c, cmd.id, &err);
	if (!id)
		return err;
	return dead_listener(id) ? -FK_OWNER_GONE : do_connect(id, &cmd);
}
