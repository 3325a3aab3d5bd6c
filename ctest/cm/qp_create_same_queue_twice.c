// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The application puts one of its queues into the id as both: it is not destroyed twice.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	struct ibv_qp_init_attr *attr = qp_attr();

	attr->send_cq = attr->recv_cq = cq;
	CALL(rdma_create_qp(id, NULL, attr));
	VOID(rdma_destroy_qp(id));
	CALL(ibv_destroy_cq(cq));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
