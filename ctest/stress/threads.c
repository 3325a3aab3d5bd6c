// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Create, destroy, acknowledge, get, migrate and destroy_qp from many threads at
 * once, on shared and on private channels. Says nothing but its count of failures;
 * a sanitizer watches it.
 */
#include "stress.h"

enum { WORKERS = 4 };

static struct rdma_event_channel *shared, *other;
static atomic_bool stop;
static atomic_int fetched;

static void *create_and_destroy(void *arg)
{
	for (int i = 0, n = rounds(300); i < n; i++) {
		struct rdma_cm_id *id = NULL;

		CHECK(!rdma_create_id(shared, &id, NULL, RDMA_PS_TCP));
		if (!id)
			continue;
		if (i % 3 == 0)
			CHECK(!rdma_bind_addr(id, addr("10.77.0.1:0")));
		else
			CHECK(!rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
		if (i % 5 == 0)
			CHECK(!rdma_migrate_id(id, other));
		if (i % 10 == 0)
			CHECK(!rdma_migrate_id(id, shared));
		CHECK(!rdma_destroy_id(id));
	}
	return NULL;
}

static void *fetch(void *arg)
{
	struct rdma_event_channel *from = arg;
	struct pollfd p = { .fd = from->fd, .events = POLLIN };

	while (!stop) {
		struct rdma_cm_event *event;

		if (poll(&p, 1, 20) != 1 || rdma_get_cm_event(from, &event))
			continue;
		fetched++;
		CHECK(!rdma_ack_cm_event(event));
	}
	return NULL;
}

static void *devices(void *arg)
{
	for (int i = 0, n = rounds(300); i < n; i++) {
		int count;
		struct ibv_context **list = rdma_get_devices(&count);

		CHECK(list && count == 1);
		rdma_free_devices(list);
	}
	return NULL;
}

/* One thread fetches CONNECT_RESPONSE, which moves the queue pair, another destroys it. */
static struct rdma_event_channel *race_channel;

static void *fetch_one(void *arg)
{
	struct rdma_cm_event *event;

	if (!rdma_get_cm_event(race_channel, &event))
		CHECK(!rdma_ack_cm_event(event));
	return NULL;
}

static void race(void)
{
	for (int i = 0, n = rounds(60); i < n; i++) {
		struct pair p;
		pthread_t thread;

		pair_request(&p, RDMA_PS_TCP);
		CHECK(!rdma_create_qp(p.child, NULL, qp_attr()));
		race_channel = p.active;
		CHECK(!rdma_accept(p.child, param()));
		thread = background(fetch_one, NULL);
		if (i % 3)
			usleep((useconds_t)(i % 7) * 20);
		rdma_destroy_qp(p.client);
		finish(thread);
		pair_destroy(&p);
	}
}

int main(void)
{
	pthread_t workers[WORKERS], fetchers[3], lister;

	/* The first calls of the library at once from all threads. */
	lister = background(devices, NULL);
	shared = rdma_create_event_channel();
	other = rdma_create_event_channel();
	/* Another thread may take an event between poll and get. */
	fcntl(shared->fd, F_SETFL, O_NONBLOCK);
	fcntl(other->fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 3; i++)
		fetchers[i] = background(fetch, i ? shared : other);
	for (int i = 0; i < WORKERS; i++)
		workers[i] = background(create_and_destroy, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	pthread_join(lister, NULL);
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(fetchers[i], NULL);
	rdma_destroy_event_channel(shared);
	rdma_destroy_event_channel(other);
	race();
	return end("threads");
}
