// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A passive look-up of a service alone: the list has the wildcard address of each family, and a server can listen
 * on every entry, by rdma_create_ep or by itself. Who takes the first entry has what the C library gives him.
 * The C library's list has one entry. An IPv6 wildcard that is alone serves both families, as there.
 *
 * differs: A-7 */
#include "trace.h"
#include <arpa/inet.h>

static struct rdma_addrinfo *list(const char *service, int family)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP, .ai_family = family };
	struct rdma_addrinfo *found = NULL;

	MUST(rdma_getaddrinfo(NULL, service, &hints, &found));
	return found;
}

/* Whether a connect meets a listener. */
static void reach(const char *to)
{
	struct rdma_event_channel *active = channel();
	struct rdma_cm_id *id = routed(active, RDMA_PS_TCP, to);
	struct pollfd ready = { active->fd, POLLIN, 0 };

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	MUST(rdma_connect(id, param()));
	/* Nobody takes the request: silence is a listener, else it is rejected at once. */
	printf("  %s: %s\n", to, poll(&ready, 1, 300) ? "refused" : "heard");
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(active);
}

static void by_endpoint(const char *service, int family, int count, const char *v4, const char *v6)
{
	struct rdma_addrinfo *all = list(service, family);
	struct rdma_cm_id *made[4];
	int n = 0;

	printf("endpoints, %s, at most %d\n", family == AF_INET6 ? "IPv6" : "any family", count);
	for (struct rdma_addrinfo *entry = all; entry && n < count; entry = entry->ai_next) {
		struct rdma_addrinfo alone = *entry;

		alone.ai_next = NULL;
		if (CALL(rdma_create_ep(&made[n], &alone, NULL, NULL)))
			continue;
		CALL(rdma_listen(made[n++], 4));
	}
	rdma_freeaddrinfo(all);
	reach(v4);
	reach(v6);
	while (n)
		rdma_destroy_ep(made[--n]);
}

static void by_ids(const char *service, const char *v4, const char *v6)
{
	struct rdma_event_channel *passive = channel();
	struct rdma_addrinfo *all = list(service, 0);
	struct rdma_cm_id *made[4];
	int n = 0;

	printf("ids\n");
	for (struct rdma_addrinfo *entry = all; entry; entry = entry->ai_next) {
		MUST(rdma_create_id(passive, &made[n], NULL, RDMA_PS_TCP));
		CALL(rdma_bind_addr(made[n], entry->ai_src_addr));
		CALL(rdma_listen(made[n++], 4));
	}
	rdma_freeaddrinfo(all);
	reach(v4);
	reach(v6);
	/* A third one is refused. */
	MUST(rdma_create_id(passive, &made[n], NULL, RDMA_PS_TCP));
	CALL(rdma_bind_addr(made[n++], addr("[::]:7231")));
	while (n)
		MUST(rdma_destroy_id(made[--n]));
	rdma_destroy_event_channel(passive);
}

int main(void)
{
	by_endpoint("7230", 0, 4, "10.77.0.1:7230", "[fd00:77::1]:7230");
	by_endpoint("7232", 0, 1, "10.77.0.1:7232", "[fd00:77::1]:7232");
	by_endpoint("7233", AF_INET6, 4, "10.77.0.1:7233", "[fd00:77::1]:7233");
	by_ids("7231", "10.77.0.1:7231", "[fd00:77::1]:7231");
	return done();
}
