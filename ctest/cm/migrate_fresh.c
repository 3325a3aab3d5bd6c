// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Moving an id between channels before anything happened, and back.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel(), *b = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	CALL(rdma_migrate_id(id, b));
	say("on b: %s", id->channel == b ? "yes" : "no");
	CALL(rdma_migrate_id(id, b));
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	none(a);
	take(b);
	CALL(rdma_migrate_id(id, a));
	CALL(rdma_resolve_route(id, 1000));
	none(b);
	take(a);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	rdma_destroy_event_channel(b);
	return done();
}
