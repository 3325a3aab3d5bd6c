/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The devices: lookup by address and GID, defaults, removal and return. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

bool fk_roce(const struct fk_dev *d, uint32_t port)
{
	return d->transport == FK_TRANSPORT_IB && port && port <= d->nports &&
	       d->port[port - 1].link_layer == FK_LINK_ETH;
}

uint32_t fk_dev_by_name(const char *name)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i <= fk_k->dev.pool.high; i++)
		if (fk_devp(i)->node.live && !strcmp(fk_devp(i)->name, name))
			last = i;
	return last;
}

static uint32_t dev_first(void)
{
	for (uint32_t i = 1; i <= fk_k->dev.pool.high; i++)
		if (fk_devp(i)->node.live && fk_devp(i)->present)
			return i;
	return 0;
}

uint32_t fk_dev_of_ip(const struct sockaddr_storage *a)
{
	for (uint32_t i = 1; i <= fk_k->dev.pool.high; i++)
		for (uint32_t j = 0; fk_devp(i)->present && j < fk_devp(i)->nips; j++)
			if (fk_sa_same_host(&fk_devp(i)->ip[j].addr, a))
				return i;
	return 0;
}

static bool same_net(const struct fk_ip *ip, const struct sockaddr_storage *a)
{
	const uint8_t *x, *y;
	uint32_t bits = ip->prefix;

	if (ip->addr.ss_family != a->ss_family)
		return false;
	if (a->ss_family == AF_INET) {
		x = (const uint8_t *)&((const struct sockaddr_in *)&ip->addr)->sin_addr;
		y = (const uint8_t *)&((const struct sockaddr_in *)a)->sin_addr;
	} else {
		x = (const uint8_t *)&((const struct sockaddr_in6 *)&ip->addr)->sin6_addr;
		y = (const uint8_t *)&((const struct sockaddr_in6 *)a)->sin6_addr;
	}
	for (; bits >= 8; bits -= 8)
		if (*x++ != *y++)
			return false;
	return !bits || !((*x ^ *y) >> (8 - bits));
}

/*
 * Routing: an address of a device is reached through that device, any other by
 * the first device on the same network. src is filled when it was a wildcard.
 */
uint32_t fk_dev_route(const struct sockaddr_storage *dst, struct sockaddr_storage *src)
{
	uint16_t port = fk_sa_port(src);
	uint32_t dev;

	if (!fk_sa_any(src))
		return fk_dev_of_ip(src);
	if (fk_sa_any(dst)) {
		dev = dev_first();
		memcpy(src, dst, sizeof(*src));
	} else if (fk_sa_multicast(dst)) {
		dev = dev_first();
		for (uint32_t j = 0; dev && j < fk_devp(dev)->nips; j++)
			if (fk_devp(dev)->ip[j].addr.ss_family == dst->ss_family) {
				memcpy(src, &fk_devp(dev)->ip[j].addr, sizeof(*src));
				break;
			}
	} else {
		dev = fk_dev_of_ip(dst);
		if (dev)
			memcpy(src, dst, sizeof(*src));
		for (uint32_t i = 1; !dev && i <= fk_k->dev.pool.high; i++)
			for (uint32_t j = 0; fk_devp(i)->present && j < fk_devp(i)->nips; j++)
				if (same_net(&fk_devp(i)->ip[j], dst)) {
					memcpy(src, &fk_devp(i)->ip[j].addr, sizeof(*src));
					dev = i;
					break;
				}
	}
	fk_sa_set_port(src, port);
	return dev;
}

bool fk_is_peer(const struct sockaddr_storage *a)
{
	for (uint32_t i = 0; i < fk_k->npeers; i++)
		if (fk_sa_same_host(&fk_k->peer[i], a))
			return true;
	return false;
}

uint32_t fk_dev_of_gid(const uint8_t *gid, uint32_t *port, uint32_t *index)
{
	for (uint32_t i = 1; i <= fk_k->dev.pool.high; i++)
		for (uint32_t p = 0; fk_devp(i)->present && p < fk_devp(i)->nports; p++)
			for (uint32_t g = 0; g < fk_devp(i)->port[p].ngids; g++)
				if (!memcmp(fk_devp(i)->port[p].gid[g], gid, 16)) {
					if (port)
						*port = p + 1;
					if (index)
						*index = g;
					return i;
				}
	return 0;
}

void fk_dev_defaults(struct fk_dev *d, uint32_t n)
{
	snprintf(d->name, sizeof(d->name), "fake%u", n - 1);
	d->guid = 0x0200fffe00000000ULL | n;
	d->index = n - 1;
	d->query_index = UINT32_MAX;
	d->transport = FK_TRANSPORT_IB;
	d->nports = 1;
	d->max_inline = 256;
	d->max_qp = 32768;
	d->max_qp_wr = 16384;
	d->max_sge = 16;
	d->max_cq = 32768;
	d->max_cqe = 1 << 20;
	d->max_srq = 4096;
	d->max_mr = 65536;
	d->max_pd = 65536;
	d->max_rd_atom = 16;
	d->listed_index_known = 1;
	d->ece = 1;
	for (uint32_t p = 0; p < FK_MAX_PORTS; p++) {
		d->port[p].link_layer = FK_LINK_ETH;
		d->port[p].state = 4;
		d->port[p].mtu = 5;
		d->port[p].pkey[0] = 0xffff;
	}
}

static void add_gid(struct fk_port_cfg *p, const uint8_t *gid, uint8_t type)
{
	if (p->ngids < FK_MAX_GIDS) {
		memcpy(p->gid[p->ngids], gid, 16);
		p->gid_type[p->ngids++] = type;
	}
}

/* Fills in what follows from the rest: GIDs from GUID and addresses, LIDs, keys. */
void fk_dev_finish(struct fk_dev *d)
{
	uint8_t own[16] = { 0xfe, 0x80 };
	uint8_t gid[16];

	if (!d->query_guid)
		d->query_guid = d->guid;
	if (d->query_index == UINT32_MAX)
		d->query_index = d->index;
	for (uint32_t p = 0; p < d->nports; p++) {
		struct fk_port_cfg *c = &d->port[p];

		if (!c->npkeys)
			c->npkeys = 1;
		if (c->link_layer == FK_LINK_IB && !c->lid)
			c->lid = (uint16_t)(d->index * 8 + p + 1);
		if (c->link_layer == FK_LINK_IB)
			c->sm_lid = 1;
		if (c->ngids)
			continue;
		for (int i = 0; i < 8; i++)
			own[8 + i] = (uint8_t)(d->guid >> (56 - 8 * i));
		own[15] = (uint8_t)(own[15] + 16 * p);
		add_gid(c, own, c->link_layer == FK_LINK_IB ? 0 : 2);
		for (uint32_t i = 0; c->link_layer == FK_LINK_ETH && i < d->nips; i++) {
			fk_gid_of_ip(&d->ip[i].addr, gid);
			add_gid(c, gid, 2);
		}
	}
	d->present = 1;
}

int fk_dev_remove(const char *name)
{
	uint32_t dev;

	fk_lock();
	dev = fk_dev_by_name(name);
	if (!dev || !fk_devp(dev)->present) {
		fk_unlock();
		return -ENODEV;
	}
	fk_devp(dev)->present = 0;
	for (uint32_t i = 1; i <= fk_k->id.pool.high; i++) {
		struct fk_id *p = fk_idp(i);

		if (!p->node.live || p->dev != dev || p->closing)
			continue;
		fk_event_simple(i, FK_EV_DEVICE_REMOVAL, 0);
		p->closing = 1;
		p->cm = FK_CM_IDLE;
		fk_port_put(i);
	}
	fk_unlock();
	fk_verbs_dev_removed(dev);
	return 0;
}

int fk_dev_return(const char *name)
{
	uint32_t dev, now;

	fk_lock();
	dev = fk_dev_by_name(name);
	now = dev && !fk_devp(dev)->present ? FK_TAKE(fk_k->dev) : 0;
	if (now) {
		struct fk_node node = fk_devp(now)->node;

		memcpy(fk_devp(now), fk_devp(dev), sizeof(struct fk_dev));
		fk_devp(now)->node = node;
		fk_devp(now)->present = 1;
		fk_devp(now)->qps = fk_devp(now)->cqs = fk_devp(now)->srqs = 0;
		fk_devp(now)->mrs = fk_devp(now)->pds = fk_devp(now)->contexts = 0;
	}
	fk_unlock();
	return now ? 0 : -ENODEV;
}
