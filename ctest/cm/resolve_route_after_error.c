// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * rdma_resolve_route after ADDR_ERROR, when no device is known yet.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	name(id, "id");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.9:7000"), 10));
	take(ch);
	CALL(rdma_resolve_route(id, 1000));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
