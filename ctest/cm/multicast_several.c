// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Several groups at once, joined twice, left in another order; the rest goes with the id.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	int a, b, c;

	name(&a, "a");
	name(&b, "b");
	name(&c, "c");
	CALL(rdma_join_multicast(id, addr("239.1.1.1"), &a));
	CALL(rdma_join_multicast(id, addr("239.1.1.2"), &b));
	CALL(rdma_join_multicast(id, addr("239.1.1.3"), &c));
	take(ch);
	take(ch);
	take(ch);
	CALL(rdma_leave_multicast(id, addr("239.1.1.2")));
	CALL(rdma_leave_multicast(id, addr("239.1.1.9")));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
