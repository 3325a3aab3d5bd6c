// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-29
 * Events of newer kernels have their names, and a user event its value.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);
	uint64_t arg = 0x1122334455667788;
	struct rdmafake_event e = { .handle = handle_of(a, 0), .event = 18, .status = 5, .arg_set = 1,
					.arg = arg };
	struct rdma_cm_event *got;

	inject(a, 16, 0);
	take(a);
	inject(a, 17, -19);
	take(a);
	if (RDMAFAKE(rdmafake_inject)(&e))
		say("cannot inject");
	got = next(a);
	say("value %s", got && !memcmp(&got->param, &arg, 8) ? "right" : "wrong");
	if (got)
		CALL(rdma_ack_cm_event(got));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
