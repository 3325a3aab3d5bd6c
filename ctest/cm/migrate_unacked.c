// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Moving waits until the reported events are given back.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel(), *b = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);
	pthread_t thread;

	MUST(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	thread = background(ack_later, next(a));
	CALL(rdma_migrate_id(id, b));
	finish(thread);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	rdma_destroy_event_channel(b);
	return done();
}
