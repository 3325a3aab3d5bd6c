// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Destroying an id waits until its reported events are given back.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);
	pthread_t thread;

	MUST(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	thread = background(ack_later, next(a));
	CALL(rdma_destroy_id(id));
	finish(thread);
	rdma_destroy_event_channel(a);
	return done();
}
