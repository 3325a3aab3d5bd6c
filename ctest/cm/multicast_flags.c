// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * join_ex with each flag and mask.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();
	struct rdma_cm_join_mc_attr_ex join = { .addr = addr("239.1.1.1") };
	static const unsigned masks[] = { 0, 1, 2, 3, 4, 7 };

	attr->qp_type = IBV_QPT_UD;
	MUST(rdma_create_qp(id, NULL, attr));
	for (unsigned m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
		for (unsigned flag = 0; flag < 4; flag++) {
			join.comp_mask = masks[m];
			join.join_flags = flag;
			say("mask %x flag %d", masks[m], flag);
			if (CALL(rdma_join_multicast_ex(id, &join, NULL)) == 0) {
				take(ch);
				CALL(rdma_leave_multicast(id, join.addr));
			}
		}
	say("attached %lu", RDMAFAKE(rdmafake_verbs)("attach_mcast"));
	rdma_destroy_qp(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
