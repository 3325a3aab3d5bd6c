// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * rdma_resolve_addrinfo, rdma_query_addrinfo and rdma_write_cm_event where both libraries do the same.
 *
 * Left out: names that do not exist, which ours reports as an event (see resolve_own.c), and calls that
 * fail, where the C library stores negative numbers or -1 in errno. The type of queue pair is no wish
 * here, as the C library forgets it for services. What is expected was said by version 65.
 *
 * theirs: absent
 * fake: device name=ib0 type=ib ip=10.77.0.1/24
 * fake: device name=roce0 ip=10.78.0.1/24
 * fake: service id=0x1234 name=svc gid=fe80::7 pkey=0x8001
 * fake: service id=0x1234 name=svc2 gid=fe80::8 pkey=0xffff
 */
#include "resolve.h"

static struct rdma_event_channel *channel;

static void ask(const char *label, const char *node, const char *service, int flags,
		const char *bound)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_IB };
	struct rdma_cm_id *id, *sync;
	int ret;

	printf("%s: node %s service %s flags %x\n", label, node ? node : "NULL",
	       service ? service : "NULL", flags);
	trace_result("rdma_create_id", rdma_create_id(channel, &id, NULL, RDMA_PS_IB));
	if (bound)
		bind_to(id, bound);
	ret = rdma_resolve_addrinfo(id, node, service, &hints);
	trace_result("rdma_resolve_addrinfo", ret);
	if (!ret) {
		trace_event(channel, 3000);
		trace_query(id);
		trace_query(id);
	}
	trace_result("rdma_destroy_id", rdma_destroy_id(id));

	trace_result("synchronous rdma_create_id", rdma_create_id(NULL, &sync, NULL, RDMA_PS_IB));
	if (bound)
		bind_to(sync, bound);
	ret = rdma_resolve_addrinfo(sync, node, service, &hints);
	/* Without the number: the C library forgets that of a service that nobody knows. */
	printf("rdma_resolve_addrinfo: %d\n", ret);
	if (sync->event)
		printf("  kept event %d status %d\n", sync->event->event, sync->event->status);
	trace_query(sync);
	trace_result("rdma_destroy_id", rdma_destroy_id(sync));
}

static void events_of_the_application(void)
{
	struct rdma_cm_id *id;
	char label[30];

	trace_result("rdma_create_id", rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	for (int event = -1; event <= (int)RDMA_CM_EVENT_INTERNAL + 2; event++) {
		snprintf(label, sizeof(label), "rdma_write_cm_event %d", event);
		trace_result(label, rdma_write_cm_event(id, (enum rdma_cm_event_type)event, 7,
							0x1122334455667788));
	}
	trace_event(channel, 1000);
	trace_result("negative status", rdma_write_cm_event(id, RDMA_CM_EVENT_USER, -5, -1));
	trace_event(channel, 1000);
	trace_event(channel, 10);
	trace_result("rdma_write_cm_event", rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0));
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
	trace_event(channel, 10);
}

static void one_at_a_time(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST };
	struct rdma_cm_id *id;

	trace_result("rdma_create_id", rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	trace_query(id);
	trace_result("first", rdma_resolve_addrinfo(id, "127.0.0.1", "7471", &hints));
	trace_result("second", rdma_resolve_addrinfo(id, "::1", "7471", &hints));
	trace_event(channel, 3000);
	trace_result("third", rdma_resolve_addrinfo(id, "::1", "7471", NULL));
	trace_query(id);
	trace_result("fourth", rdma_resolve_addrinfo(id, "::1", "7471", NULL));
	trace_event(channel, 3000);
	trace_query(id);
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
}

static void getaddrinfo_of_services(const char *node, const char *service, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags }, *res = NULL, *entry;
	int ret = rdma_getaddrinfo(node, service, &hints, &res);

	printf("node %s service %s flags %x\n", node ? node : "NULL", service ? service : "NULL",
	       flags);
	trace_result("rdma_getaddrinfo", ret);
	for (entry = res; !ret && entry; entry = entry->ai_next)
		trace_entry(entry);
	if (!ret)
		rdma_freeaddrinfo(res);
}

int main(void)
{
	static const char *const services[] = { "0x1234", "4660", "011064", " +4660", "svc", "svc2",
						"nope", "99", "", "0x", "4660 " };

	setvbuf(stdout, NULL, _IOLBF, 0);
	need_resolve();
	channel = rdma_create_event_channel();
	ask("numeric", "127.0.0.1", "7471", RAI_DNS | RAI_NUMERICHOST, NULL);
	ask("numeric by default", "::1", "7471", RAI_NUMERICHOST, NULL);
	ask("passive", NULL, "7471", RAI_PASSIVE, NULL);
	ask("hints alone", NULL, NULL, RAI_DNS, NULL);
	for (size_t i = 0; i < sizeof(services) / sizeof(*services); i++)
		ask("service", NULL, services[i], RAI_SA, "10.77.0.1");
	ask("service of a node", "127.0.0.1", "svc", RAI_SA, "10.77.0.1");
	ask("both kinds", NULL, "svc", RAI_SA | RAI_DNS, "10.77.0.1");
	events_of_the_application();
	one_at_a_time();
	getaddrinfo_of_services(NULL, "svc", RAI_SA);
	getaddrinfo_of_services(NULL, "0x1234", RAI_SA);
	getaddrinfo_of_services(NULL, "svc2", RAI_SA | RAI_PASSIVE);
	getaddrinfo_of_services(NULL, "nope", RAI_SA);
	getaddrinfo_of_services(NULL, NULL, RAI_SA);
	getaddrinfo_of_services("127.0.0.1", "svc", RAI_SA);
	getaddrinfo_of_services(NULL, "svc", RAI_SA | RAI_DNS);
	getaddrinfo_of_services("127.0.0.1", "7471", RAI_DNS);
	rdma_destroy_event_channel(channel);
	return 0;
}
