// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sanitizer: no
 * differs: C-31, the child inherits a lock that nobody will give back
 * theirs: varies
 * Forking while other threads use the library: the child can start afresh.
 */
#include "trace.h"

static volatile bool stop;

static void *busy(void *arg)
{
	struct rdma_event_channel *ch = channel();

	while (!stop) {
		struct rdma_cm_id *id = NULL;

		if (!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP)) {
			rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 100);
			rdma_destroy_id(id);
		}
	}
	rdma_destroy_event_channel(ch);
	return NULL;
}

static void child(void *arg)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = NULL;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) || rdma_destroy_id(id))
		_exit(1);
	rdma_destroy_event_channel(ch);
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		threads[i] = background(busy, NULL);
	for (int i = 0; i < 20; i++)
		in_child("child", child, NULL);
	stop = true;
	for (int i = 0; i < 3; i++)
		finish(threads[i]);
	return done();
}
