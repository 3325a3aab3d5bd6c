// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Events that wait in the kernel move along, in order.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel(), *b = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	MUST(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	inject(a, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	inject(a, RDMA_CM_EVENT_TIMEWAIT_EXIT, 3);
	CALL(rdma_migrate_id(id, b));
	none(a);
	take(b);
	take(b);
	take(b);
	none(b);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	rdma_destroy_event_channel(b);
	return done();
}
