// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Prints calls with their result, the same way for every program of this folder. */
#ifndef ADDRINFO_TRACE_H
#define ADDRINFO_TRACE_H

#include "helpers.h"

#include <netdb.h>
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <rdma/rdma_cma.h>

/* A negative result of the resolver has no errno, or any: only -1 is followed by one. */
static inline void trace_result(const char *call, int ret)
{
	int error = errno;

	if (ret == -1)
		printf("%s: -1 errno %d (%s)\n", call, error, strerror(error));
	else
		printf("%s: %d\n", call, ret);
}

static inline void trace_gid(const struct ib_addr *gid)
{
	char text[INET6_ADDRSTRLEN];

	printf("%s", inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

static inline void trace_address(const char *name, const struct sockaddr *address, socklen_t length)
{
	char text[INET6_ADDRSTRLEN];

	printf("  %s length %u", name, (unsigned)length);
	if (!address) {
		printf(" none\n");
		return;
	}
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;

		printf(" inet %s port %d\n", inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)),
		       ntohs(in->sin_port));
	} else if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)address;

		printf(" inet6 %s port %d flow %x scope %u\n",
		       inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text)),
		       ntohs(in6->sin6_port), ntohl(in6->sin6_flowinfo), in6->sin6_scope_id);
	} else if (address->sa_family == AF_IB) {
		const struct sockaddr_ib *ib = (const void *)address;

		printf(" ib ");
		trace_gid(&ib->sib_addr);
		printf(" pkey %x flow %x sid %llx mask %llx scope %llx\n", ntohs(ib->sib_pkey),
		       ntohl(ib->sib_flowinfo), (unsigned long long)be64toh(ib->sib_sid),
		       (unsigned long long)be64toh(ib->sib_sid_mask),
		       (unsigned long long)ib->sib_scope_id);
	} else {
		printf(" family %d\n", address->sa_family);
	}
}

static inline void trace_bytes(const char *name, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	printf("  %s length %zu%s", name, length, bytes ? "" : " none");
	for (size_t i = 0; bytes && i < length; i++)
		printf("%s%02x", i % 36 ? "" : "\n    ", byte[i]);
	printf("\n");
}

static inline void trace_entry(const struct rdma_addrinfo *entry)
{
	printf(" entry flags %x family %d qp_type %d port_space %x\n", entry->ai_flags,
	       entry->ai_family, entry->ai_qp_type, entry->ai_port_space);
	trace_address("src", entry->ai_src_addr, entry->ai_src_len);
	trace_address("dst", entry->ai_dst_addr, entry->ai_dst_len);
	if (entry->ai_src_canonname)
		printf("  src name %s\n", entry->ai_src_canonname);
	if (entry->ai_dst_canonname)
		printf("  dst name %s\n", entry->ai_dst_canonname);
	if (entry->ai_route_len)
		trace_bytes("route", entry->ai_route, entry->ai_route_len);
	if (entry->ai_connect_len)
		trace_bytes("connect", entry->ai_connect, entry->ai_connect_len);
}

#endif
