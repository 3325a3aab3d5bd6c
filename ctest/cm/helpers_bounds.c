// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18, the inline helper of the C header asserts
 * A receive outside of its region is EINVAL.
 */
#include "trace.h"

static char buffer[4096];

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_mr *mr;

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	MUST(!!(mr = HELPER(rdma_reg_msgs)(id, buffer + 100, 100)));
	CALL(HELPER(rdma_post_recv)(id, NULL, buffer, 10, mr));
	CALL(HELPER(rdma_post_recv)(id, NULL, buffer + 100, 101, mr));
	CALL(HELPER(rdma_post_recv)(id, NULL, buffer + 199, 2, mr));
	CALL(HELPER(rdma_post_recv)(id, NULL, buffer + 100, 100, mr));
	ibv_dereg_mr(mr);
	rdma_destroy_qp(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
