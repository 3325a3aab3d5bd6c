// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Leaving waits until the group's events are given back.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	pthread_t thread;

	MUST(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	thread = background(ack_later, next(ch));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	finish(thread);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
