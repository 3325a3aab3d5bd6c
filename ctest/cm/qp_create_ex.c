// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * rdma_create_qp_ex with the masks that matter.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_qp_init_attr_ex attr = { .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
							 .max_recv_sge = 1 }, .qp_type = IBV_QPT_RC };

	CALL(rdma_create_qp_ex(id, &attr));
	say("mask %x pd %d queues %d/%d", attr.comp_mask, attr.pd == id->pd, attr.send_cq == id->send_cq, attr.recv_cq == id->recv_cq);
	rdma_destroy_qp(id);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.send_cq = attr.recv_cq = NULL;
	CALL(rdma_create_qp_ex(id, &attr));
	rdma_destroy_qp(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
