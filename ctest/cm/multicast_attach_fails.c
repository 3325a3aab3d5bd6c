// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-14
 * The device refuses to attach: MULTICAST_ERROR with the device's -errno.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();

	attr->qp_type = IBV_QPT_UD;
	MUST(rdma_create_qp(id, NULL, attr));
	fake("verbs attach_mcast errno=ENOSPC");
	CALL(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	take(ch);
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	rdma_destroy_qp(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
