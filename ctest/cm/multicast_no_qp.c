// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A group without a queue pair, on a bound id, by IPv4 and IPv6.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_UDP, "10.77.0.1:7000");

	CALL(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	take(ch);
	CALL(rdma_join_multicast(id, addr("[ff02::1:5]"), NULL));
	take(ch);
	CALL(rdma_leave_multicast(id, addr("[ff02::1:5]")));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
