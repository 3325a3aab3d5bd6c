// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Questions to ibacm and what is made of its replies, by rdma_getaddrinfo and rdma_resolve_route.
 *
 * What the C library does otherwise is not asked for here: entries with native addresses go before the
 * others unasked, a reply without a path or source crashes it, and a silent
 * daemon stops it for good (A-2; see acm_wrong.c). The transaction number is not printed, it is always
 * zero there.
 *
 * fake: device name=ib0 type=ib ip=10.77.0.1/24,10.77.0.2/24,10.77.0.4/24,fd00:77::1/64
 */
#include "ibacm.h"

static void ask(const char *label, const char *node, const char *service,
		const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *res = NULL, *entry;
	int ret;

	printf("%s\n", label);
	ret = rdma_getaddrinfo(node, service, hints, &res);
	trace_result("rdma_getaddrinfo", ret);
	for (entry = res; !ret && entry; entry = entry->ai_next)
		/* Native entries that nobody asked for: see above. */
		if (entry->ai_family != AF_IB || hints->ai_family == AF_IB)
			trace_entry(entry);
	if (!ret)
		rdma_freeaddrinfo(res);
}

/* The daemon's route is set as an option, and the event comes as if the fabric had been asked. */
static void route(const char *node)
{
	struct sockaddr_in destination = { .sin_family = AF_INET, .sin_port = htons(7471) };
	struct rdma_cm_id *id;

	printf("route to %s\n", node);
	inet_pton(AF_INET, node, &destination.sin_addr);
	trace_result("rdma_create_id", rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	trace_result("rdma_resolve_addr", rdma_resolve_addr(id, NULL, (void *)&destination, 1000));
	trace_result("rdma_resolve_route", rdma_resolve_route(id, 1000));
	printf("  %s, %d paths\n", id->event ? rdma_event_str(id->event->event) : "no event",
	       id->route.num_paths);
	for (int i = 0; i < id->route.num_paths; i++)
		trace_bytes("path", &id->route.path_rec[i].dgid, sizeof(id->route.path_rec[i].dgid));
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
}

int main(void)
{
	struct rdma_addrinfo hints = { .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP };
	struct sockaddr_in source = { .sin_family = AF_INET };
	struct sockaddr_ib native = { .sib_family = AF_IB };
	struct ibv_path_data wish = { .flags = 3, .path.pkey = 0x180 };
	pid_t daemon;

	setvbuf(stdout, NULL, _IOLBF, 0);
	acm_private_run();
	daemon = acm_daemon();
	inet_pton(AF_INET, "10.77.0.1", &source.sin_addr);
	hints.ai_src_addr = (void *)&source;
	hints.ai_src_len = sizeof(source);
	ask("one path", "10.77.0.1", "7471", &hints);
	ask("two paths", "10.77.0.2", "7471", &hints);
	ask("refused", "10.77.0.4", "7471", &hints);
	ask("IPv6 destination", "fd00:77::4", "7471", &hints);
	hints.ai_flags = RAI_NUMERICHOST;
	ask("numeric", "10.77.0.2", "7471", &hints);
	hints.ai_flags = RAI_NOROUTE;
	ask("no route", "10.77.0.2", "7471", &hints);
	hints.ai_flags = RAI_PASSIVE;
	ask("passive", "10.77.0.2", "7471", &hints);
	hints.ai_flags = 0;
	hints.ai_route = &wish;
	hints.ai_route_len = sizeof(wish);
	ask("wish with flags", "10.77.0.2", "7471", &hints);
	hints.ai_route = &wish.path;
	hints.ai_route_len = sizeof(wish.path);
	ask("wish", "10.77.0.2", "7471", &hints);
	hints.ai_route_len = 0;
	hints.ai_src_len = 0;
	ask("path and source", "10.77.0.3", "7471", &hints);
	hints.ai_flags = RAI_NUMERICHOST | RAI_FAMILY;
	hints.ai_family = AF_IB;
	ask("refused GID", "fe80::4", "7471", &hints);
	inet_pton(AF_INET6, "fe80::200:fffe:0:1", &native.sib_addr);
	hints.ai_src_addr = (void *)&native;
	hints.ai_src_len = sizeof(native);
	ask("GIDs", "fe80::1", "7471", &hints);
	hints.ai_flags = 0;
	hints.ai_src_addr = (void *)&source;
	hints.ai_src_len = sizeof(source);
	ask("native addresses for IP", "10.77.0.2", "7471", &hints);
	hints.ai_port_space = RDMA_PS_IB;
	ask("in the native port space", "10.77.0.1", NULL, &hints);
	route("10.77.0.1");
	route("10.77.0.2");
	route("10.77.0.4");
	acm_stop(daemon);
	return 0;
}
