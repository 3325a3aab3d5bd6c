/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Port numbers: one space for each rdma port space, as the kernel keeps them. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <string.h>

static int conflict(const struct fk_id *a, const struct fk_id *b, bool reuse)
{
	if (fk_port_space(a) != fk_port_space(b) || (reuse && b->reuse))
		return 0;
	if (a->afonly && b->afonly && a->src.ss_family != b->src.ss_family)
		return 0;
	if (fk_sa_any(&a->src) || fk_sa_any(&b->src))
		return -EADDRNOTAVAIL;
	return fk_sa_same_host(&a->src, &b->src) ? -EADDRINUSE : 0;
}

static int check(uint32_t id, uint16_t port, bool reuse)
{
	for (uint32_t o = fk_k->port_head[port]; o; o = fk_idp(o)->port_next) {
		int r = o == id ? 0 : conflict(fk_idp(id), fk_idp(o), reuse);

		if (r)
			return r;
	}
	return 0;
}

static bool taken(uint32_t id, uint16_t port)
{
	for (uint32_t o = fk_k->port_head[port]; o; o = fk_idp(o)->port_next)
		if (fk_port_space(fk_idp(o)) == fk_port_space(fk_idp(id)))
			return true;
	return false;
}

static void take(uint32_t id, uint16_t port)
{
	fk_idp(id)->bound_port = port;
	fk_idp(id)->port_next = fk_k->port_head[port];
	fk_k->port_head[port] = id;
	fk_sa_set_port(&fk_idp(id)->src, port);
}

int fk_port_get(uint32_t id)
{
	uint16_t port = fk_sa_port(&fk_idp(id)->src);
	uint32_t span = fk_k->tune.port_high - fk_k->tune.port_low + 1;
	int r;

	if (port) {
		if (port < 1024 && geteuid() != 0)
			return -EACCES;
		r = check(id, port, fk_idp(id)->reuse);
		if (!r)
			take(id, port);
		return r;
	}
	for (uint32_t n = 0; n < span; n++) {
		port = (uint16_t)fk_k->next_port;
		if (++fk_k->next_port > fk_k->tune.port_high)
			fk_k->next_port = fk_k->tune.port_low;
		if (!taken(id, port)) {
			take(id, port);
			return 0;
		}
	}
	return -EADDRNOTAVAIL;
}

int fk_port_check(uint32_t id, bool reuse)
{
	return check(id, (uint16_t)fk_idp(id)->bound_port, reuse);
}

void fk_port_put(uint32_t id)
{
	uint32_t *at = &fk_k->port_head[fk_idp(id)->bound_port & 0xffff];

	if (!fk_idp(id)->bound_port)
		return;
	for (; *at; at = &fk_idp(*at)->port_next)
		if (*at == id) {
			*at = fk_idp(id)->port_next;
			break;
		}
	fk_idp(id)->bound_port = 0;
}

static bool hears(const struct fk_id *l, const struct fk_id *from,
		  const struct sockaddr_storage *dst, uint32_t dev)
{
	if (l->state != FK_LISTEN || fk_port_space(l) != fk_port_space(from))
		return false;
	if (l->dev && l->dev != dev)
		return false;
	if (fk_sa_any(&l->src))
		return l->src.ss_family == dst->ss_family || !l->afonly;
	return fk_sa_same_host(&l->src, dst);
}

/* The listener that a connect to dst meets: an exact address before a wildcard. */
uint32_t fk_port_listener(uint32_t from, const struct sockaddr_storage *dst, uint32_t dev)
{
	uint32_t any = 0;

	for (uint32_t o = fk_k->port_head[fk_sa_port(dst)]; o; o = fk_idp(o)->port_next) {
		if (!hears(fk_idp(o), fk_idp(from), dst, dev))
			continue;
		if (!fk_sa_any(&fk_idp(o)->src))
			return o;
		any = o;
	}
	return any;
}
