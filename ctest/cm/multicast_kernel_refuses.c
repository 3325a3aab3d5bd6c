// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel refuses a join: the errno survives, nothing is left to leave.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_UDP, "10.77.0.1:7000");

	fake("fail JOIN_MCAST errno=EMFILE");
	CALL(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	CALL(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
