// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-23
 * A group is found by its address, whatever the caller's padding and port are.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	struct sockaddr_in a = *(struct sockaddr_in *)addr("239.1.1.1"), b = a;

	memset(a.sin_zero, 1, sizeof(a.sin_zero));
	memset(b.sin_zero, 2, sizeof(b.sin_zero));
	CALL(rdma_join_multicast(id, (struct sockaddr *)&a, NULL));
	take(ch);
	CALL(rdma_leave_multicast(id, (struct sockaddr *)&b));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
