// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Groups that are none, on ids that cannot.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *fresh = new_id(ch, RDMA_PS_UDP);
	struct rdma_cm_id *stream = bound(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct sockaddr_storage other = { .ss_family = AF_UNIX };

	CALL(rdma_join_multicast(fresh, addr("239.1.1.1"), NULL));
	CALL(rdma_join_multicast(stream, addr("239.1.1.1"), NULL));
	CALL(rdma_join_multicast(stream, (struct sockaddr *)&other, NULL));
	CALL(rdma_leave_multicast(stream, addr("239.1.1.1")));
	CALL(rdma_destroy_id(fresh));
	CALL(rdma_destroy_id(stream));
	rdma_destroy_event_channel(ch);
	return done();
}
