// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: kernel mcast_error=ENETUNREACH
 * The join fails later: MULTICAST_ERROR with context and status; leaving works still.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	int context;

	name(&context, "group");
	CALL(rdma_join_multicast(id, addr("239.1.1.1"), &context));
	take(ch);
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
