/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* BIND, RESOLVE_ADDR, RESOLVE_ROUTE, RESOLVE_IB_SERVICE and their IP forms. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <ifaddrs.h>
#include <infiniband/ib.h>
#include <netinet/in.h>
#include <string.h>

/* An address of a card without RDMA gives ENODEV, a foreign one EADDRNOTAVAIL. */
static int no_device_errno(const struct sockaddr_storage *a)
{
	struct ifaddrs *all, *i;
	int r = -EADDRNOTAVAIL;

	if (a->ss_family == AF_IB || getifaddrs(&all))
		return -ENODEV;
	for (i = all; i; i = i->ifa_next) {
		struct sockaddr_storage have = { 0 };

		if (!i->ifa_addr || i->ifa_addr->sa_family != a->ss_family)
			continue;
		memcpy(&have, i->ifa_addr, fk_sa_size(a));
		if (fk_sa_same_host(&have, a))
			r = -ENODEV;
	}
	freeifaddrs(all);
	return r;
}

static int do_bind(uint32_t id, const struct sockaddr_storage *a)
{
	struct fk_id *p = fk_idp(id);
	uint32_t dev = 0, port = 1;
	int r;

	if (!fk_sa_size(a) || (a->ss_family == AF_IB && !fk_k->tune.af_ib))
		return -EAFNOSUPPORT;
	if (p->state != FK_IDLE)
		return -EINVAL;
	if (a->ss_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

		if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) && !v6->sin6_scope_id)
			return -EINVAL;
	}
	if (!fk_sa_any(a)) {
		if (a->ss_family == AF_IB)
			dev = fk_dev_of_gid(((const struct sockaddr_ib *)a)->sib_addr.sib_raw, &port, NULL);
		else
			dev = fk_dev_of_ip(a);
		if (!dev)
			return no_device_errno(a);
	}
	memset(&p->src, 0, sizeof(p->src));
	memcpy(&p->src, a, fk_sa_size(a));
	if (!p->afonly_set)
		p->afonly = a->ss_family == AF_INET;
	r = fk_port_get(id);
	if (r) {
		memset(&p->src, 0, sizeof(p->src));
		return r;
	}
	p->dst.ss_family = p->src.ss_family;
	if (dev) {
		fk_id_attach(id, dev);
		p->port = port;
		if (fk_roce(fk_devp(dev), port)) {
			fk_gid_of_ip(&p->src, p->sgid);
			fk_gid_of_ip(&p->dst, p->dgid);
		} else {
			memcpy(p->sgid, fk_devp(dev)->port[port - 1].gid[0], 16);
		}
	}
	p->state = FK_ADDR_BOUND;
	return 0;
}

int fk_cmd_bind_ip(struct fk_call *c)
{
	struct rdma_ucm_bind_ip cmd;
	struct sockaddr_storage a = { 0 };
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	memcpy(&a, &cmd.addr, sizeof(cmd.addr));
	if (a.ss_family != AF_INET && a.ss_family != AF_INET6)
		return -EINVAL;
	id = fk_find(c, cmd.id, &err);
	return id ? do_bind(id, &a) : err;
}

int fk_cmd_bind(struct fk_call *c)
{
	struct rdma_ucm_bind cmd;
	struct sockaddr_storage a;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	memcpy(&a, &cmd.addr, sizeof(a));
	if (cmd.reserved || !cmd.addr_size || cmd.addr_size != fk_sa_size(&a))
		return -EINVAL;
	id = fk_find(c, cmd.id, &err);
	return id ? do_bind(id, &a) : err;
}

static void addr_failed(uint32_t id, int status)
{
	fk_idp(id)->state = FK_ADDR_BOUND;
	fk_event_simple(id, FK_EV_ADDR_ERROR, status);
}

/* GIDs of both ends, by what the link is. */
static void set_gids(struct fk_id *p, uint32_t dst_dev)
{
	const struct fk_dev *d = fk_devp(p->dev);

	if (p->src.ss_family == AF_IB) {
		memcpy(p->sgid, d->port[p->port - 1].gid[0], 16);
		memcpy(p->dgid, ((const struct sockaddr_ib *)&p->dst)->sib_addr.sib_raw, 16);
	} else if (fk_roce(d, p->port) && !fk_sa_any(&p->dst)) {
		fk_gid_of_ip(&p->src, p->sgid);
		fk_gid_of_ip(&p->dst, p->dgid);
	} else {
		uint8_t peer[16] = { 0xfe, 0x80 };

		/* A declared peer gets a GID made from its address. */
		fk_gid_of_ip(&p->dst, peer);
		peer[0] = 0xfe;
		peer[1] = 0x80;
		memcpy(p->sgid, d->port[p->port - 1].gid[0], 16);
		memcpy(p->dgid, dst_dev ? fk_devp(dst_dev)->port[0].gid[0] : peer, 16);
	}
}

static int resolve_ib(uint32_t id)
{
	struct fk_id *p = fk_idp(id);
	const struct sockaddr_ib *dst = (const struct sockaddr_ib *)&p->dst;
	uint32_t port = 1, dev = fk_dev_of_gid(dst->sib_addr.sib_raw, &port, NULL);

	for (uint32_t i = 1; !dev && i <= fk_k->dev.pool.high; i++)
		if (fk_devp(i)->present && fk_devp(i)->port[0].link_layer == FK_LINK_IB &&
		    !memcmp(fk_devp(i)->port[0].gid[0], dst->sib_addr.sib_raw, 8))
			dev = i;
	if (!dev)
		return -ENODEV;
	if (!p->dev) {
		fk_id_attach(id, dev);
		p->port = port;
		memcpy(((struct sockaddr_ib *)&p->src)->sib_addr.sib_raw, p->sgid, 16);
	}
	return 0;
}

static int do_resolve(uint32_t id, const struct sockaddr_storage *src,
		      const struct sockaddr_storage *dst)
{
	struct fk_id *p = fk_idp(id);
	struct sockaddr_storage from;
	uint32_t dev, dst_dev;
	int r;

	if (p->state == FK_IDLE) {
		struct sockaddr_storage any = { .ss_family = dst->ss_family };

		r = do_bind(id, src->ss_family ? src : &any);
		if (r)
			return r;
	}
	if (p->state != FK_ADDR_BOUND && p->state != FK_ADDRINFO_RESOLVED)
		return -EINVAL;
	if (p->src.ss_family != dst->ss_family)
		return -EINVAL;
	memset(&p->dst, 0, sizeof(p->dst));
	memcpy(&p->dst, dst, fk_sa_size(dst));
	if (dst->ss_family == AF_IB && !fk_sa_any(dst)) {
		r = resolve_ib(id);
		if (r)
			return r;
		dst_dev = p->dev;
	} else {
		memcpy(&from, &p->src, sizeof(from));
		dev = p->dev ? p->dev : fk_dev_route(dst, &from);
		dst_dev = fk_sa_any(dst) ? dev : fk_dev_of_ip(dst);
		if (!dev && fk_sa_any(dst))
			return -ENODEV;
		if (!dev || (!dst_dev && !fk_is_peer(dst) && !fk_sa_multicast(dst))) {
			addr_failed(id, dev ? -ETIMEDOUT : fk_k->tune.addr_error);
			return 0;
		}
		if (!p->dev) {
			memcpy(&p->src, &from, sizeof(from));
			fk_id_attach(id, dev);
		}
	}
	set_gids(p, dst_dev);
	p->state = FK_ADDR_RESOLVED;
	fk_event_simple(id, FK_EV_ADDR_RESOLVED, 0);
	return 0;
}

int fk_cmd_resolve_ip(struct fk_call *c)
{
	struct rdma_ucm_resolve_ip cmd;
	struct sockaddr_storage src = { 0 }, dst = { 0 };
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	memcpy(&src, &cmd.src_addr, sizeof(cmd.src_addr));
	memcpy(&dst, &cmd.dst_addr, sizeof(cmd.dst_addr));
	if ((src.ss_family && src.ss_family != AF_INET && src.ss_family != AF_INET6) ||
	    (dst.ss_family != AF_INET && dst.ss_family != AF_INET6))
		return -EINVAL;
	id = fk_find(c, cmd.id, &err);
	return id ? do_resolve(id, &src, &dst) : err;
}

int fk_cmd_resolve_addr(struct fk_call *c)
{
	struct rdma_ucm_resolve_addr cmd;
	struct sockaddr_storage src, dst;
	uint32_t id;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	memcpy(&src, &cmd.src_addr, sizeof(src));
	memcpy(&dst, &cmd.dst_addr, sizeof(dst));
	if (cmd.reserved || (cmd.src_size && cmd.src_size != fk_sa_size(&src)) ||
	    !cmd.dst_size || cmd.dst_size != fk_sa_size(&dst))
		return -EINVAL;
	id = fk_find(c, cmd.id, &err);
	return id ? do_resolve(id, &src, &dst) : err;
}

int fk_cmd_resolve_route(struct fk_call *c)
{
	struct rdma_ucm_resolve_route cmd;
	struct fk_id *p;
	const struct fk_port_cfg *port;
	uint32_t id, dst, dst_port = 1;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find_dev(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	if (p->state != FK_ADDR_RESOLVED)
		return -EINVAL;
	port = &fk_devp(p->dev)->port[p->port - 1];
	p->npaths = fk_is_iwarp(p) ? 0 : 1;
	memset(&p->path, 0, sizeof(p->path));
	memcpy(p->path.sgid, p->sgid, 16);
	memcpy(p->path.dgid, p->dgid, 16);
	p->path.pkey = p->pkey;
	p->path.mtu = port->mtu;
	p->path.rate = 3;
	p->path.life = 18;
	p->path.tclass = p->tos;
	p->path.service_id = fk_service_id(p, &p->dst);
	if (fk_roce(fk_devp(p->dev), p->port)) {
		p->path.hop = 64;
	} else {
		dst = fk_dev_of_gid(p->dgid, &dst_port, NULL);
		p->path.slid = port->lid;
		p->path.dlid = dst ? fk_devp(dst)->port[dst_port - 1].lid : 0x7f;
	}
	p->state = FK_ROUTE_RESOLVED;
	fk_event_simple(id, FK_EV_ROUTE_RESOLVED, 0);
	return 0;
}

int fk_cmd_resolve_service(struct fk_call *c)
{
	struct { uint32_t id, reserved; uint64_t sid; char name[64]; uint32_t flags, reserved2; } cmd;
	struct fk_id *p;
	uint32_t id, found = 0;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	id = fk_find(c, cmd.id, &err);
	if (!id)
		return err;
	p = fk_idp(id);
	if (!p->dev || p->state != FK_ADDR_BOUND || (cmd.flags != 1 && cmd.flags != 2))
		return -EINVAL;
	if (fk_devp(p->dev)->port[p->port - 1].link_layer != FK_LINK_IB)
		return -EOPNOTSUPP;
	for (uint32_t i = 0; i < fk_k->nservices; i++)
		if (cmd.flags == 1 ? fk_k->service[i].id == cmd.sid :
		    !strncmp(fk_k->service[i].name, cmd.name, sizeof(cmd.name)))
			found |= 1u << i;
	p->nservices = found;
	if (found)
		p->state = FK_ADDRINFO_RESOLVED;
	fk_event_simple(id, found ? FK_EV_ADDRINFO_RESOLVED : FK_EV_ADDRINFO_ERROR,
			found ? 0 : -ENOENT);
	return 0;
}
