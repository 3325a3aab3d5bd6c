// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the headers and libraries of rdma-core before 61 lack; missing functions are NULL. */
#ifndef ADDRINFO_RESOLVE_H
#define ADDRINFO_RESOLVE_H

#include <poll.h>
#include "trace.h"

#ifndef RAI_SA
#define RAI_SA 0x10
#define RAI_DNS 0x20
#define RDMA_CM_EVENT_USER ((enum rdma_cm_event_type)18)
#define RDMA_CM_EVENT_INTERNAL ((enum rdma_cm_event_type)19)
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg);
#endif
#pragma weak rdma_resolve_addrinfo
#pragma weak rdma_query_addrinfo
#pragma weak rdma_write_cm_event

static inline void need_resolve(void)
{
	if (!rdma_resolve_addrinfo || !rdma_query_addrinfo || !rdma_write_cm_event) {
		printf("skipped: this library has no rdma_resolve_addrinfo\n");
		exit(77);
	}
}

/* Numbers, as not every library has names for all of them. */
static inline void trace_event(struct rdma_event_channel *channel, int wait_ms)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	uint64_t arg;
	int ret;

	if (poll(&ready, 1, wait_ms) != 1) {
		printf("no event\n");
		return;
	}
	ret = rdma_get_cm_event(channel, &event);
	trace_result("rdma_get_cm_event", ret);
	if (ret)
		return;
	memcpy(&arg, &event->param, sizeof(arg));
	printf("  event %d status %d arg %llx\n", event->event, event->status,
	       (unsigned long long)arg);
	rdma_ack_cm_event(event);
}

static inline void trace_query(struct rdma_cm_id *id)
{
	struct rdma_addrinfo *res = NULL, *entry;
	int ret = rdma_query_addrinfo(id, &res);

	trace_result("rdma_query_addrinfo", ret);
	for (entry = res; !ret && entry; entry = entry->ai_next)
		/* More addresses than the first one: fault A-7 of the C library. */
		if (entry == res || entry->ai_family == AF_IB)
			trace_entry(entry);
	if (!ret)
		rdma_freeaddrinfo(res);
}

static inline void bind_to(struct rdma_cm_id *id, const char *text)
{
	struct sockaddr_in address = ipv4(text, 0);

	trace_result("rdma_bind_addr", rdma_bind_addr(id, (void *)&address));
}

#endif
