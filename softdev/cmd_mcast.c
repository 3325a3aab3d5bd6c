/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* JOIN_IP_MCAST, JOIN_MCAST, LEAVE_MCAST. */
#include "real.h"
#include "fake.h"
#include "conn.h"

#include <errno.h>
#include <infiniband/ib.h>
#include <netinet/in.h>
#include <string.h>

enum { FIRST_MLID = 0xc001 };

/* How an address becomes a group's GID. */
static void mgid_of(const struct fk_id *p, const struct sockaddr_storage *a, uint8_t *gid)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;

	memset(gid, 0, 16);
	if (a->ss_family == AF_IB) {
		memcpy(gid, ((const struct sockaddr_ib *)a)->sib_addr.sib_raw, 16);
	} else if (a->ss_family == AF_INET6) {
		memcpy(gid, &((const struct sockaddr_in6 *)a)->sin6_addr, 16);
	} else if (fk_roce(fk_devp(p->dev), p->port)) {
		/* RoCE v2: the address itself. */
		gid[10] = gid[11] = 0xff;
		memcpy(gid + 12, &v4->sin_addr, 4);
	} else {
		gid[0] = 0xff;
		gid[1] = 0x12;
		gid[2] = 0x40;
		gid[3] = 0x1b;
		memcpy(gid + 12, &v4->sin_addr, 4);
		gid[12] &= 0x0f;
	}
}

static uint16_t mlid_of(const uint8_t *gid)
{
	uint32_t h = 0;

	for (int i = 0; i < 16; i++)
		h = h * 31 + gid[i];
	return (uint16_t)(FIRST_MLID + h % 0x1000);
}

static void joined(uint32_t id, uint32_t mc)
{
	struct fk_id *p = fk_idp(id);
	struct fk_mc *m = fk_mcp(mc);
	bool failed = fk_k->tune.mcast_error != 0;
	uint32_t ev;
	struct rdma_ucm_ud_param *ud;

	if (!p->uid)
		return;
	ev = fk_event_new(id, failed ? FK_EV_MULTICAST_ERROR : FK_EV_MULTICAST_JOIN,
			  -(int)fk_k->tune.mcast_error);
	if (!ev)
		return;
	/* Such an event names the membership, not the id. */
	fk_eventp(ev)->mc = mc;
	fk_event_resp(ev)->uid = m->uid;
	fk_event_resp(ev)->id = m->handle;
	ud = &fk_event_resp(ev)->param.ud;
	if (!failed && fk_is_ud(p)) {
		fk_fill_ah(p, &ud->ah_attr);
		ud->qp_num = 0xffffff;
		ud->qkey = p->qkey ? p->qkey : FK_DEFAULT_QKEY;
		ud->ah_attr.is_global = 1;
		memcpy(ud->ah_attr.grh.dgid, m->mgid, 16);
		ud->ah_attr.grh.hop_limit = 64;
		ud->ah_attr.dlid = fk_roce(fk_devp(p->dev), p->port) ? 0 : m->mlid;
	}
	fk_event_post(p->chan, ev);
}

static int do_join(struct fk_call *c, const struct rdma_ucm_join_mcast *cmd,
		   const struct sockaddr_storage *a)
{
	struct rdma_ucm_create_id_resp resp;
	struct fk_id *p;
	struct fk_mc *m;
	uint32_t id, mc;
	int r, err = 0;

	if (c->out_len < sizeof(resp))
		return -ENOSPC;
	if (!cmd->addr_size || cmd->addr_size != fk_sa_size(a) || cmd->join_flags > 1)
		return -EINVAL;
	id = fk_find_dev(c, cmd->id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	if (fk_is_iwarp(p) || !fk_is_ud(p))
		return -EINVAL;
	if (p->state != FK_ADDR_BOUND && p->state != FK_ADDR_RESOLVED)
		return -EINVAL;
	mc = FK_TAKE(fk_k->mc);
	if (!mc)
		return -ENOMEM;
	m = fk_mcp(mc);
	m->handle = fk_handle_new(&fk_k->mc_handle, mc);
	m->id = id;
	m->uid = cmd->uid;
	m->flags = (uint8_t)cmd->join_flags;
	m->addr = *a;
	mgid_of(p, a, m->mgid);
	m->mlid = mlid_of(m->mgid);
	m->next_in_id = p->mc_first;
	p->mc_first = mc;
	resp.id = m->handle;
	r = fk_respond(c, cmd->response, &resp, sizeof(resp));
	if (r) {
		p->mc_first = m->next_in_id;
		fk_handle_free(&fk_k->mc_handle, m->handle);
		FK_GIVE(fk_k->mc, mc);
		return r;
	}
	joined(id, mc);
	return 0;
}

int fk_cmd_join_ip(struct fk_call *c)
{
	struct rdma_ucm_join_ip_mcast ip;
	struct rdma_ucm_join_mcast cmd = { 0 };
	struct sockaddr_storage a = { 0 };

	fk_request(c, &ip, sizeof(ip));
	memcpy(&a, &ip.addr, sizeof(ip.addr));
	cmd.response = ip.response;
	cmd.uid = ip.uid;
	cmd.id = ip.id;
	cmd.addr_size = (uint16_t)fk_sa_size(&a);
	return do_join(c, &cmd, &a);
}

int fk_cmd_join(struct fk_call *c)
{
	struct rdma_ucm_join_mcast cmd;
	struct sockaddr_storage a;

	fk_request(c, &cmd, sizeof(cmd));
	memcpy(&a, &cmd.addr, sizeof(a));
	return do_join(c, &cmd, &a);
}

int fk_cmd_leave(struct fk_call *c)
{
	struct rdma_ucm_destroy_id cmd;
	struct rdma_ucm_destroy_id_resp resp;
	uint32_t mc, *at;

	if (c->out_len < sizeof(resp))
		return -ENOSPC;
	fk_request(c, &cmd, sizeof(cmd));
	mc = fk_handle_find(&fk_k->mc_handle, cmd.id);
	if (!mc)
		return -ENOENT;
	if (fk_idp(fk_mcp(mc)->id)->chan != c->chan)
		return -EINVAL;
	fk_events_purge(0, mc);
	for (at = &fk_idp(fk_mcp(mc)->id)->mc_first; *at && *at != mc; )
		at = &fk_mcp(*at)->next_in_id;
	if (*at)
		*at = fk_mcp(mc)->next_in_id;
	resp.events_reported = fk_mcp(mc)->reported;
	fk_handle_free(&fk_k->mc_handle, fk_mcp(mc)->handle);
	FK_GIVE(fk_k->mc, mc);
	return fk_respond(c, cmd.response, &resp, sizeof(resp));
}
