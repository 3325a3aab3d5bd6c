// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-3
 * fake: handles base=70000
 * Handles beyond 65535, which are system-wide: events with uid 0 find their id too, and a successful
 * call leaves errno alone.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = NULL;
	struct rdmafake_event e = { .event = RDMA_CM_EVENT_ESTABLISHED, .uid_set = 1, .uid = 0 };

	errno = 0;
	MUST(rdma_create_id(a, &id, NULL, RDMA_PS_TCP));
	say("errno %s", error_text(errno));
	name(id, "id");
	e.handle = handle_of(a, 0);
	if (RDMAFAKE(rdmafake_inject)(&e))
		say("cannot inject");
	take(a);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
