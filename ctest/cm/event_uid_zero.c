// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An event with uid 0: ESTABLISHED is found by its handle, others are dropped and counted, so that
 * destroying does not wait for them.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);
	static const int types[] = { RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_REJECTED,
					 RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_ADDR_CHANGE,
					 RDMA_CM_EVENT_ESTABLISHED };

	for (int i = 0; i < 5; i++) {
		struct rdmafake_event e = { .handle = handle_of(a, 0), .event = (uint32_t)types[i],
						.uid_set = 1, .uid = 0 };

		if (RDMAFAKE(rdmafake_inject)(&e))
			say("cannot inject");
	}
	take(a);
	none(a);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
