/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* CREATE_ID, DESTROY_ID, MIGRATE_ID, NOTIFY, SET_OPTION. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_sa.h>
#include <stdlib.h>
#include <string.h>

int fk_cmd_create(struct fk_call *c)
{
	struct rdma_ucm_create_id cmd;
	struct rdma_ucm_create_id_resp resp;
	uint8_t qp_type;
	uint32_t id;
	int r;

	if (c->out_len < sizeof(resp))
		return -ENOSPC;
	fk_request(c, &cmd, sizeof(cmd));
	switch (cmd.ps) {
	case RDMA_PS_TCP:
		qp_type = FK_QPT_RC;
		break;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		qp_type = FK_QPT_UD;
		break;
	case RDMA_PS_IB:
		qp_type = cmd.qp_type;
		break;
	default:
		return -EINVAL;
	}
	id = fk_id_new(c->chan);
	if (!id)
		return -ENOMEM;
	fk_idp(id)->uid = cmd.uid;
	fk_idp(id)->ps = cmd.ps;
	fk_idp(id)->qp_type = qp_type;
	fk_id_link(id, c->chan);
	resp.id = fk_idp(id)->handle;
	r = fk_respond(c, cmd.response, &resp, sizeof(resp));
	if (r)
		fk_id_destroy(id);
	return r;
}

int fk_cmd_destroy(struct fk_call *c)
{
	struct rdma_ucm_destroy_id cmd;
	struct rdma_ucm_destroy_id_resp resp;
	uint32_t id;

	if (c->out_len < sizeof(resp))
		return -ENOSPC;
	fk_request(c, &cmd, sizeof(cmd));
	/* Not fk_find: an id whose device is gone can still be destroyed. */
	id = fk_handle_find(&fk_k->id_handle, cmd.id);
	if (!id || fk_idp(id)->child_pending)
		return -ENOENT;
	if (fk_idp(id)->chan != c->chan)
		return -EINVAL;
	resp.events_reported = fk_id_destroy(id);
	return fk_respond(c, cmd.response, &resp, sizeof(resp));
}

int fk_cmd_migrate(struct fk_call *c)
{
	struct rdma_ucm_migrate_id cmd;
	struct rdma_ucm_migrate_resp resp;
	struct fk_call from = *c;
	uint32_t id;
	int err = 0;

	if (c->out_len < sizeof(resp))
		return -ENOSPC;
	fk_request(c, &cmd, sizeof(cmd));
	if (fk_fd_kind((int)cmd.fd, &from.chan) != FK_FD_CHAN)
		return fcntl((int)cmd.fd, F_GETFD) < 0 ? -ENOENT : -EINVAL;
	id = fk_find(&from, cmd.id, &err);
	if (!id)
		return err;
	if (from.chan != c->chan) {
		fk_events_move(id, c->chan);
		fk_id_unlink(id);
		fk_id_link(id, c->chan);
	}
	resp.events_reported = fk_idp(id)->reported;
	return fk_respond(c, cmd.response, &resp, sizeof(resp));
}

int fk_cmd_notify(struct fk_call *c)
{
	enum { COMM_EST = 4, PATH_MIG = 6 };
	struct rdma_ucm_notify cmd;
	struct fk_id *p;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	if (!p->dev || p->cm == FK_CM_NONE)
		return -EINVAL;
	if (fk_is_iwarp(p))
		return 0;
	/* The path is not changed: there is one. */
	if (cmd.event == PATH_MIG)
		return p->cm == FK_CM_ESTABLISHED ? 0 : -EINVAL;
	if (cmd.event != COMM_EST)
		return -EINVAL;
	if (p->cm == FK_CM_ESTABLISHED)
		return -EISCONN;
	if (p->cm != FK_CM_REP_SENT)
		return -EINVAL;
	p->cm = FK_CM_ESTABLISHED;
	fk_event_simple(id, FK_EV_ESTABLISHED, 0);
	return 0;
}

static int option_id(uint32_t id, uint32_t name, const uint8_t *val, uint32_t len)
{
	struct fk_id *p = fk_idp(id);
	uint32_t word = 0;

	if (len == sizeof(word))
		memcpy(&word, val, sizeof(word));
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		if (len != 1)
			return -EINVAL;
		p->tos = *val;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		if (len != sizeof(word) || (p->state == FK_LISTEN && word))
			return -EINVAL;
		p->reuse = word != 0;
		return 0;
	case RDMA_OPTION_ID_AFONLY:
		if (len != sizeof(word) || (p->state != FK_IDLE && p->state != FK_ADDR_BOUND))
			return -EINVAL;
		p->afonly = word != 0;
		p->afonly_set = 1;
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (len != 1 || fk_is_ud(p))
			return -EINVAL;
		p->ack_timeout = *val;
		p->ack_timeout_set = 1;
		return 0;
	default:
		return -ENOSYS;
	}
}

static int option_path(uint32_t id, const uint8_t *val, uint32_t len)
{
	struct ib_path_rec_data rec;
	struct fk_id *p = fk_idp(id);
	const uint8_t *raw;

	if (!p->dev || len % sizeof(rec))
		return -EINVAL;
	for (; len; len -= sizeof(rec), val += sizeof(rec)) {
		memcpy(&rec, val, sizeof(rec));
		if (rec.flags == (IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL))
			break;
	}
	if (!len || p->state != FK_ADDR_RESOLVED)
		return -EINVAL;
	raw = (const uint8_t *)rec.path_rec;
	memcpy(p->path.dgid, raw + 8, 16);
	memcpy(p->path.sgid, raw + 24, 16);
	p->path.dlid = (uint16_t)(raw[40] << 8 | raw[41]);
	p->path.slid = (uint16_t)(raw[42] << 8 | raw[43]);
	p->path.hop = raw[47];
	p->path.tclass = raw[48];
	p->path.pkey = (uint16_t)(raw[50] << 8 | raw[51]);
	p->path.sl = raw[53] & 15;
	p->path.mtu = raw[54] & 63;
	p->path.rate = raw[55] & 63;
	p->path.life = raw[56] & 63;
	p->npaths = 1;
	p->state = FK_ROUTE_RESOLVED;
	fk_event_simple(id, FK_EV_ROUTE_RESOLVED, 0);
	return 0;
}

int fk_cmd_set_option(struct fk_call *c)
{
	struct rdma_ucm_set_option cmd;
	const uint8_t *val;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find(c, cmd.id, &err);
	if (!id)
		return err;
	val = (const uint8_t *)(uintptr_t)cmd.optval;
	if (cmd.optlen && !val)
		return -EFAULT;
	switch (cmd.level) {
	case RDMA_OPTION_ID:
		return option_id(id, cmd.optname, val, cmd.optlen);
	case RDMA_OPTION_IB:
		return cmd.optname == RDMA_OPTION_IB_PATH ?
			option_path(id, val, cmd.optlen) : -ENOSYS;
	default:
		return -ENOSYS;
	}
}
