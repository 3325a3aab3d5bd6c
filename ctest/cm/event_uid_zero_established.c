// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * ESTABLISHED with uid 0 is for the id that has the handle (old kernels).
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);
	struct rdmafake_event e = { .handle = handle_of(a, 0), .event = RDMA_CM_EVENT_ESTABLISHED,
					.uid_set = 1, .uid = 0 };

	if (RDMAFAKE(rdmafake_inject)(&e))
		say("cannot inject");
	take(a);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
