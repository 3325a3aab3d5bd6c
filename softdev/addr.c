/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Socket addresses of the three families: IPv4, IPv6 and AF_IB. */
#include "real.h"
#include "fake.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define SIN(a) ((struct sockaddr_in *)(uintptr_t)(a))
#define SIN6(a) ((struct sockaddr_in6 *)(uintptr_t)(a))
#define SIB(a) ((struct sockaddr_ib *)(uintptr_t)(a))

size_t fk_sa_size(const struct sockaddr_storage *a)
{
	switch (a->ss_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

bool fk_sa_zero(const struct sockaddr_storage *a)
{
	switch (a->ss_family) {
	case AF_INET:
		return SIN(a)->sin_addr.s_addr == 0;
	case AF_INET6:
		return IN6_IS_ADDR_UNSPECIFIED(&SIN6(a)->sin6_addr);
	case AF_IB:
		return ib_addr_any(&SIB(a)->sib_addr);
	default:
		return true;
	}
}

bool fk_sa_loop(const struct sockaddr_storage *a)
{
	switch (a->ss_family) {
	case AF_INET:
		return (ntohl(SIN(a)->sin_addr.s_addr) >> 24) == 127;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&SIN6(a)->sin6_addr);
	case AF_IB:
		return ib_addr_loopback(&SIB(a)->sib_addr);
	default:
		return false;
	}
}

/* The kernel calls both the wildcard and loop-back "any": neither names a device. */
bool fk_sa_any(const struct sockaddr_storage *a)
{
	return fk_sa_zero(a) || fk_sa_loop(a);
}

bool fk_sa_multicast(const struct sockaddr_storage *a)
{
	switch (a->ss_family) {
	case AF_INET:
		return IN_MULTICAST(ntohl(SIN(a)->sin_addr.s_addr));
	case AF_INET6:
		return IN6_IS_ADDR_MULTICAST(&SIN6(a)->sin6_addr);
	case AF_IB:
		return SIB(a)->sib_addr.sib_raw[0] == 0xff;
	default:
		return false;
	}
}

bool fk_sa_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	switch (a->ss_family) {
	case AF_INET:
		return SIN(a)->sin_addr.s_addr == SIN(b)->sin_addr.s_addr;
	case AF_INET6:
		return !memcmp(&SIN6(a)->sin6_addr, &SIN6(b)->sin6_addr, 16);
	case AF_IB:
		return !ib_addr_cmp(&SIB(a)->sib_addr, &SIB(b)->sib_addr);
	default:
		return false;
	}
}

uint16_t fk_sa_port(const struct sockaddr_storage *a)
{
	switch (a->ss_family) {
	case AF_INET:
		return ntohs(SIN(a)->sin_port);
	case AF_INET6:
		return ntohs(SIN6(a)->sin6_port);
	case AF_IB:
		return (uint16_t)(be64toh(SIB(a)->sib_sid) & be64toh(SIB(a)->sib_sid_mask));
	default:
		return 0;
	}
}

void fk_sa_set_port(struct sockaddr_storage *a, uint16_t port)
{
	uint64_t sid;

	switch (a->ss_family) {
	case AF_INET:
		SIN(a)->sin_port = htons(port);
		break;
	case AF_INET6:
		SIN6(a)->sin6_port = htons(port);
		break;
	case AF_IB:
		sid = be64toh(SIB(a)->sib_sid) & ~0xffffULL;
		SIB(a)->sib_sid = htobe64(sid | port);
		SIB(a)->sib_sid_mask = htobe64(~0ULL);
		break;
	default:
		break;
	}
}

/* "10.0.0.1", "fd00::1/64", "[::1]:5000" is not taken: ports are separate words. */
int fk_sa_parse(const char *text, struct sockaddr_storage *a, uint32_t *prefix)
{
	char buf[64], *slash;

	memset(a, 0, sizeof(*a));
	if (strlen(text) >= sizeof(buf))
		return -EINVAL;
	strcpy(buf, text);
	slash = strchr(buf, '/');
	if (slash)
		*slash++ = 0;
	if (inet_pton(AF_INET, buf, &SIN(a)->sin_addr) == 1)
		a->ss_family = AF_INET;
	else if (inet_pton(AF_INET6, buf, &SIN6(a)->sin6_addr) == 1)
		a->ss_family = AF_INET6;
	else
		return -EINVAL;
	if (prefix)
		*prefix = slash ? (uint32_t)atoi(slash) : a->ss_family == AF_INET ? 24 : 64;
	return 0;
}

/* A group's GID, also one that RoCE v2 makes of an IPv4 address. */
bool fk_gid_multicast(const uint8_t *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return gid[0] == 0xff || (!memcmp(gid, mapped, sizeof(mapped)) && (gid[12] & 0xf0) == 0xe0);
}

/* RoCE keeps an IPv4 address as a mapped GID. */
void fk_gid_of_ip(const struct sockaddr_storage *a, uint8_t *gid)
{
	if (a->ss_family == AF_INET6) {
		memcpy(gid, &SIN6(a)->sin6_addr, 16);
		return;
	}
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, &SIN(a)->sin_addr, 4);
}

/* An AF_IB id says its port space in the service id. */
uint16_t fk_port_space(const struct fk_id *id)
{
	uint64_t sid;

	if (id->src.ss_family != AF_IB)
		return id->ps;
	sid = be64toh(SIB(&id->src)->sib_sid) & be64toh(SIB(&id->src)->sib_sid_mask);
	switch ((sid >> 16) & 0xffff) {
	case RDMA_PS_TCP:
	case RDMA_PS_UDP:
	case RDMA_PS_IB:
		return (uint16_t)(sid >> 16);
	default:
		return id->ps;
	}
}

uint64_t fk_service_id(const struct fk_id *id, const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_IB)
		return SIB(a)->sib_sid;
	return htobe64((uint64_t)id->ps << 16 | fk_sa_port(a));
}
