// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-24
 * An event whose uid belongs to nobody, or to an id that has gone, is dropped: the wait goes on.
 */
#include "trace.h"

static const uint64_t uids[] = { 1, 0xdeadbeefdeadbeef, 0x7fffffffffffffff, ~0ull };

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP), *gone = new_id(a, RDMA_PS_TCP);
	uint64_t stale = 0;

	if (RDMAFAKE(rdmafake_uid)(handle_of(a, 1), &stale))
		say("no uid");
	MUST(rdma_destroy_id(gone));
	for (int i = 0; i < 5; i++) {
		struct rdmafake_event e = { .handle = ~0u, .fd = a->fd,
						.event = RDMA_CM_EVENT_ADDR_CHANGE, .uid_set = 1,
						.uid = i < 4 ? uids[i] : stale };

		if (RDMAFAKE(rdmafake_inject)(&e))
			say("cannot inject");
	}
	inject(a, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	take(a);
	none(a);
	CALL(fcntl(a->fd, F_SETFL, O_NONBLOCK));
	struct rdma_cm_event *event;
	CALL(rdma_get_cm_event(a, &event));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
