// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * After a bind that chose no device every call that needs one fails, and none crashes.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_TCP, "0.0.0.0:7000");
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	int mask = 0;

	CALL(rdma_resolve_route(id, 1000));
	CALL(rdma_create_qp(id, NULL, qp_attr()));
	CALL(rdma_create_srq(id, NULL, &srq));
	CALL(rdma_connect(id, param()));
	CALL(rdma_accept(id, param()));
	CALL(rdma_accept(id, NULL));
	CALL(rdma_disconnect(id));
	CALL(rdma_init_qp_attr(id, &attr, &mask));
	CALL(rdma_establish(id));
	CALL(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	CALL(rdma_notify(id, IBV_EVENT_COMM_EST));
	CALL(rdma_reject(id, NULL, 0));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
