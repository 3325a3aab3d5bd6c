// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * Every call of rdma_cma.h with a good id and NULL for the rest: EINVAL.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask = 0;

	CALL(rdma_create_id(ch, NULL, NULL, RDMA_PS_TCP));
	CALL(rdma_bind_addr(id, NULL));
	CALL(rdma_resolve_addr(id, NULL, NULL, 1000));
	CALL(rdma_create_qp(id, NULL, NULL));
	CALL(rdma_create_qp_ex(id, NULL));
	CALL(rdma_create_srq(id, NULL, NULL));
	CALL(rdma_create_srq_ex(id, NULL));
	CALL(rdma_connect(id, NULL));
	CALL(rdma_accept(id, NULL));
	CALL(rdma_join_multicast(id, NULL, NULL));
	CALL(rdma_join_multicast_ex(id, NULL, NULL));
	CALL(rdma_leave_multicast(id, NULL));
	CALL(rdma_init_qp_attr(id, NULL, &mask));
	CALL(rdma_init_qp_attr(id, &attr, NULL));
	CALL(rdma_set_local_ece(id, NULL));
	CALL(rdma_get_remote_ece(id, NULL));
	CALL(rdma_get_request(id, NULL));
	VOID(rdma_destroy_qp(id));
	VOID(rdma_destroy_srq(id));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
