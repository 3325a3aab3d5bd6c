// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Destroying an id with events that nobody fetched.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	MUST(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	inject(a, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	CALL(rdma_destroy_id(id));
	none(a);
	rdma_destroy_event_channel(a);
	return done();
}
