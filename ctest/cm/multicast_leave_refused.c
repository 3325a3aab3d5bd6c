// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-23
 * The kernel refuses to leave: the group stays, its events still come with the caller's context, and
 * leaving can be tried again.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	int context;

	name(&context, "group");
	fake("fail LEAVE_MCAST errno=EIO");
	fake("delay MULTICAST_JOIN ms=300");
	CALL(rdma_join_multicast(id, addr("239.1.1.1"), &context));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	take(ch);
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
