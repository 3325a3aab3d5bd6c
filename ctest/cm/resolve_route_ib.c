// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device type=ib ip=10.77.0.1/24 lid=5
 * Resolving the route on InfiniBand: event, path record with LIDs.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");

	name(id, "id");
	show_id(id);
	CALL(rdma_resolve_route(id, 1000));
	take(ch);
	show_id(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
