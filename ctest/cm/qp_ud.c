// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A datagram queue pair goes to RTS at once.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_UDP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();
	struct ibv_qp_attr now;
	struct ibv_qp_init_attr init;

	attr->qp_type = IBV_QPT_UD;
	CALL(rdma_create_qp(id, NULL, attr));
	CALL(ibv_query_qp(id->qp, &now, IBV_QP_STATE | IBV_QP_QKEY, &init));
	say("state %d qkey %x modified %lu", now.qp_state, now.qkey, RDMAFAKE(rdmafake_verbs)("modify_qp"));
	rdma_destroy_qp(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
