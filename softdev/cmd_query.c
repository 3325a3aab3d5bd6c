/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* QUERY_ROUTE and QUERY: addresses, paths, GIDs, services. */
#include "real.h"
#include "fake.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <rdma/ib_user_sa.h>
#include <string.h>

static void put16(uint8_t *to, uint16_t v)
{
	to[0] = (uint8_t)(v >> 8);
	to[1] = (uint8_t)v;
}

static void copy_path(struct ib_user_path_rec *to, const struct fk_path *p)
{
	memcpy(to->dgid, p->dgid, 16);
	memcpy(to->sgid, p->sgid, 16);
	to->dlid = htobe16(p->dlid);
	to->slid = htobe16(p->slid);
	to->flow_label = htobe32(p->flow);
	to->reversible = 1;
	to->mtu = p->mtu;
	to->pkey = htobe16(p->pkey);
	to->hop_limit = p->hop;
	to->traffic_class = p->tclass;
	to->numb_path = 1;
	to->sl = p->sl;
	to->mtu_selector = 2;
	to->rate_selector = 2;
	to->rate = p->rate;
	to->packet_life_time_selector = 2;
	to->packet_life_time = p->life;
}

/* The record as it is on the wire of a subnet administrator. */
static void pack_path(uint8_t *raw, const struct fk_path *p)
{
	memcpy(raw, &p->service_id, 8);
	memcpy(raw + 8, p->dgid, 16);
	memcpy(raw + 24, p->sgid, 16);
	put16(raw + 40, p->dlid);
	put16(raw + 42, p->slid);
	raw[44] = (uint8_t)((p->flow >> 16) & 15);
	put16(raw + 45, (uint16_t)p->flow);
	raw[47] = p->hop;
	raw[48] = p->tclass;
	raw[49] = 0x81;
	put16(raw + 50, p->pkey);
	raw[53] = p->sl;
	raw[54] = (uint8_t)(0x80 | p->mtu);
	raw[55] = (uint8_t)(0x80 | p->rate);
	raw[56] = (uint8_t)(0x80 | p->life);
}

static uint32_t index_of(const struct fk_id *p)
{
	return p->dev ? fk_devp(p->dev)->query_index : 0;
}

int fk_cmd_query_route(struct fk_call *c)
{
	struct rdma_ucm_query cmd;
	struct rdma_ucm_query_route_resp r = { 0 };
	const size_t old = offsetof(struct rdma_ucm_query_route_resp, ibdev_index);
	const struct fk_id *p;
	uint32_t id;
	int err = 0;

	if (c->out_len < old)
		return -ENOSPC;
	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	memcpy(&r.src_addr, &p->src, sizeof(r.src_addr));
	memcpy(&r.dst_addr, &p->dst, sizeof(r.dst_addr));
	if (p->dev) {
		r.node_guid = htobe64(fk_devp(p->dev)->query_guid);
		r.port_num = (uint8_t)p->port;
		r.ibdev_index = index_of(p);
		r.num_paths = p->npaths;
		copy_path(&r.ib_route[0], &p->path);
		if (!p->npaths) {
			memset(&r.ib_route[0], 0, sizeof(r.ib_route[0]));
			memcpy(r.ib_route[0].dgid, p->dgid, 16);
			memcpy(r.ib_route[0].sgid, p->sgid, 16);
			r.ib_route[0].pkey = htobe16(p->pkey);
		}
	}
	if (!fk_k->tune.index_known)
		return fk_respond(c, cmd.response, &r, old);
	return fk_respond(c, cmd.response, &r, c->out_len < sizeof(r) ? c->out_len : sizeof(r));
}

static void device_addr(const struct fk_id *p, struct rdma_ucm_query_addr_resp *r)
{
	if (!p->dev)
		return;
	r->node_guid = htobe64(fk_devp(p->dev)->query_guid);
	r->port_num = (uint8_t)p->port;
	r->pkey = htobe16(p->pkey);
	r->ibdev_index = index_of(p);
}

static int send_addr(struct fk_call *c, uint64_t to, const struct rdma_ucm_query_addr_resp *r)
{
	const size_t old = offsetof(struct rdma_ucm_query_addr_resp, ibdev_index);

	/* A kernel that does not know the index leaves the caller's bytes alone. */
	if (!fk_k->tune.index_known || c->out_len < sizeof(*r))
		return fk_respond(c, to, r, old);
	return fk_respond(c, to, r, sizeof(*r));
}

static int query_addr(struct fk_call *c, uint64_t to, const struct fk_id *p)
{
	struct rdma_ucm_query_addr_resp r = { 0 };

	if (c->out_len < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	r.src_size = (uint16_t)fk_sa_size(&p->src);
	memcpy(&r.src_addr, &p->src, r.src_size);
	r.dst_size = (uint16_t)fk_sa_size(&p->dst);
	memcpy(&r.dst_addr, &p->dst, r.dst_size);
	device_addr(p, &r);
	return send_addr(c, to, &r);
}

static void as_ib(const struct fk_id *p, const struct sockaddr_storage *a,
		  const uint8_t *gid, struct __kernel_sockaddr_storage *out)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)out;

	if (a->ss_family == AF_IB) {
		memcpy(ib, a, sizeof(*ib));
		return;
	}
	ib->sib_family = AF_IB;
	ib->sib_pkey = htobe16(p->pkey);
	memcpy(ib->sib_addr.sib_raw, gid, 16);
	ib->sib_sid = fk_service_id(p, a);
}

static int query_gid(struct fk_call *c, uint64_t to, const struct fk_id *p)
{
	struct rdma_ucm_query_addr_resp r = { 0 };

	if (c->out_len < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	device_addr(p, &r);
	r.src_size = r.dst_size = sizeof(struct sockaddr_ib);
	as_ib(p, &p->src, p->sgid, &r.src_addr);
	as_ib(p, &p->dst, p->dgid, &r.dst_addr);
	return send_addr(c, to, &r);
}

static int query_path(struct fk_call *c, uint64_t to, const struct fk_id *p)
{
	struct { uint32_t num, reserved; struct ib_path_rec_data rec; } r;
	size_t n = sizeof(struct rdma_ucm_query_path_resp);

	if (c->out_len < n)
		return -ENOSPC;
	memset(&r, 0, sizeof(r));
	r.num = p->npaths;
	if (p->npaths && c->out_len >= sizeof(r)) {
		r.rec.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
		pack_path((uint8_t *)r.rec.path_rec, &p->path);
		n = sizeof(r);
	}
	return fk_respond(c, to, &r, n);
}

static int query_service(struct fk_call *c, uint64_t to, const struct fk_id *p)
{
	enum { RECORD = 176 };
	uint8_t r[8 + 2 * RECORD] = { 0 };
	uint32_t n = 0;
	size_t len = 8;

	if (c->out_len < 8)
		return -ENOSPC;
	for (uint32_t i = 0; i < fk_k->nservices; i++) {
		const struct fk_service *s = &fk_k->service[i];
		uint64_t id = htobe64(s->id);
		uint8_t *rec = r + len;

		if (!(p->nservices & 1u << i))
			continue;
		n++;
		if (len + RECORD > c->out_len || len + RECORD > sizeof(r))
			continue;
		memcpy(rec, &id, 8);
		memcpy(rec + 8, s->gid, 16);
		put16(rec + 24, s->pkey);
		memcpy(rec + 48, s->name, sizeof(s->name));
		len += RECORD;
	}
	memcpy(r, &n, sizeof(n));
	return fk_respond(c, to, r, len);
}

int fk_cmd_query(struct fk_call *c)
{
	struct rdma_ucm_query cmd;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find(c, cmd.id, &err);
	if (!id)
		return err;
	switch (cmd.option) {
	case RDMA_USER_CM_QUERY_ADDR:
		return query_addr(c, cmd.response, fk_idp(id));
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(c, cmd.response, fk_idp(id));
	case RDMA_USER_CM_QUERY_GID:
		return query_gid(c, cmd.response, fk_idp(id));
	case FK_QUERY_IB_SERVICE:
		return fk_k->tune.max_cmd < FK_CMD_RESOLVE_IB_SERVICE ? -ENOSYS :
			query_service(c, cmd.response, fk_idp(id));
	default:
		return -ENOSYS;
	}
}
