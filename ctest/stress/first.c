// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The first call of the library from 32 threads at once: one open for each device. */
#include "stress.h"

static pthread_barrier_t barrier;

static void *first(void *arg)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	pthread_barrier_wait(&barrier);
	ch = rdma_create_event_channel();
	CHECK(ch);
	if (!ch)
		return NULL;
	CHECK(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
	CHECK(!rdma_bind_addr(id, addr("10.77.0.1:0")));
	CHECK(id->verbs);
	CHECK(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return NULL;
}

int main(void)
{
	enum { THREADS = 32 };
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		threads[i] = background(first, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(RDMAFAKE(rdmafake_verbs)("open_device") == 1);
	return end("first");
}
