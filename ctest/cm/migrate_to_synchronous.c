// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An id moved to no channel becomes synchronous; moved to one it is asynchronous again.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	CALL(rdma_migrate_id(id, NULL));
	say("a channel of its own: %s", id->channel && id->channel != a ? "yes" : "no");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	show_event(id->event);
	CALL(rdma_migrate_id(id, NULL));
	CALL(rdma_migrate_id(id, a));
	say("event %s", id->event ? "kept" : "gone");
	CALL(rdma_resolve_route(id, 1000));
	take(a);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
