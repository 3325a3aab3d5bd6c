// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Threads that resolve names and destroy, move or query the id at any moment, beside others that ask
 * rdma_getaddrinfo. Nothing is lost, nothing hangs, and every event belongs to an id that lives.
 *
 * theirs: absent
 * fake: device name=ib0 type=ib ip=10.77.0.1/24
 */
#include <pthread.h>
#include <unistd.h>
#include "resolve.h"

enum { THREADS = 4, ROUNDS = 150 };

static int failures;

static void check(int good, const char *what)
{
	if (!good && !__atomic_fetch_add(&failures, 1, __ATOMIC_SEQ_CST))
		printf("failed: %s, errno %d\n", what, errno);
}

static void take_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event)) {
		check(0, "rdma_get_cm_event");
		return;
	}
	check(event->event == 16 && !event->status, "event");
	rdma_ack_cm_event(event);
}

static void *resolve(void *argument)
{
	struct rdma_event_channel *first = rdma_create_event_channel();
	struct rdma_event_channel *second = rdma_create_event_channel();
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST }, *res;
	unsigned seed = (unsigned)(size_t)argument;
	struct rdma_cm_id *id;

	for (int round = 0; round < ROUNDS; round++) {
		check(!rdma_create_id(first, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
		check(!rdma_resolve_addrinfo(id, "127.0.0.1", "1", &hints), "rdma_resolve_addrinfo");
		if (rand_r(&seed) % 2)
			usleep(rand_r(&seed) % 200);
		switch (rand_r(&seed) % 3) {
		case 0:
			take_event(first);
			check(!rdma_query_addrinfo(id, &res), "rdma_query_addrinfo");
			rdma_freeaddrinfo(res);
			break;
		case 1:
			check(!rdma_migrate_id(id, second), "rdma_migrate_id");
			take_event(second);
			break;
		}
		check(!rdma_destroy_id(id), "rdma_destroy_id");
	}
	rdma_destroy_event_channel(second);
	rdma_destroy_event_channel(first);
	return NULL;
}

static void *ask(void *argument)
{
	struct rdma_addrinfo *res;

	for (int round = 0; round < ROUNDS; round++) {
		check(!rdma_getaddrinfo("::1", "7471", NULL, &res), "rdma_getaddrinfo");
		rdma_freeaddrinfo(res);
	}
	return argument;
}

int main(void)
{
	pthread_t resolvers[THREADS], askers[THREADS];

	need_resolve();
	for (size_t i = 0; i < THREADS; i++) {
		pthread_create(&resolvers[i], NULL, resolve, (void *)(i + 1));
		pthread_create(&askers[i], NULL, ask, NULL);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(resolvers[i], NULL);
		pthread_join(askers[i], NULL);
	}
	printf("%s\n", failures ? "not all went well" : "all went well");
	return failures != 0;
}
