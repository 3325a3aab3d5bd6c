// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: handles reuse=lifo
 * The kernel gives a freed handle to the next id at once: the two never mix.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();

	for (int i = 0; i < 200; i++) {
		struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);
		struct rdmafake_event e = { .handle = handle_of(a, 0), .event = RDMA_CM_EVENT_ESTABLISHED,
						.uid_set = 1, .uid = 0 };
		struct rdma_cm_event *event = NULL;

		if (RDMAFAKE(rdmafake_inject)(&e))
			say("cannot inject");
		MUST(rdma_get_cm_event(a, &event));
		if (event->id != id)
			say("round %d: another id", i);
		MUST(rdma_ack_cm_event(event));
		MUST(rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(a);
	return done();
}
