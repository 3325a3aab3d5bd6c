// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sanitizer: no
 * differs: C-31, the child's calls go to its parent's devices and may find a lock held for ever
 * theirs: varies
 * A fork while threads sleep in the library: the child's own threads, which get the stacks of those that
 * slept, wait for and wake each other there.
 */
#include "trace.h"

enum { SLEEPERS = 20, THREADS = 8 };

static void *sleeps(void *arg)
{
	rdma_destroy_id(arg);
	return NULL;
}

static void *acknowledges(void *arg)
{
	usleep(300);
	rdma_ack_cm_event(arg);
	return NULL;
}

static struct rdma_cm_event *addressed_event(struct rdma_event_channel *ch, struct rdma_cm_id **id)
{
	*id = new_id(ch, RDMA_PS_TCP);
	MUST(rdma_resolve_addr(*id, NULL, addr("10.77.0.1:7000"), 1000));
	return expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static void *uses(void *arg)
{
	struct rdma_event_channel *ch = channel();

	for (int i = 0; i < 10; i++) {
		struct rdma_cm_id *id;
		pthread_t thread;

		/* Ends without `finish`, whose own wait would be in the way. */
		MUST(pthread_create(&thread, NULL, acknowledges, addressed_event(ch, &id)) ? -1 : 1);
		MUST(rdma_destroy_id(id));
		pthread_join(thread, NULL);
	}
	rdma_destroy_event_channel(ch);
	return NULL;
}

static void child(void *arg)
{
	for (int round = 0; round < 3; round++) {
		pthread_t threads[THREADS];

		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, uses, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
}

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_event *events[SLEEPERS];
	pthread_t sleepers[SLEEPERS];

	for (int i = 0; i < SLEEPERS; i++) {
		struct rdma_cm_id *id;

		events[i] = addressed_event(ch, &id);
		pthread_create(&sleepers[i], NULL, sleeps, id);
	}
	usleep(100000);
	for (int i = 0; i < 3; i++)
		in_child("child", child, NULL);
	for (int i = 0; i < SLEEPERS; i++)
		MUST(rdma_ack_cm_event(events[i]));
	for (int i = 0; i < SLEEPERS; i++)
		pthread_join(sleepers[i], NULL);
	rdma_destroy_event_channel(ch);
	return done();
}
