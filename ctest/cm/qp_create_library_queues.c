// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A queue pair whose queues the library makes, and what is in the id then.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();

	CALL(rdma_create_qp(id, NULL, attr));
	say("cqs %d/%d channels %d/%d differ %d, attr %d/%d srq %d pd %d", !!id->send_cq, !!id->recv_cq,
		!!id->send_cq_channel, !!id->recv_cq_channel, id->send_cq != id->recv_cq,
		attr->send_cq == id->send_cq, attr->recv_cq == id->recv_cq, !!attr->srq, id->qp->pd == id->pd);
	say("cqe %d/%d context %d/%d", id->send_cq->cqe, id->recv_cq->cqe, id->send_cq->cq_context == id,
		id->recv_cq->cq_context == id);
	say("cap %d %d %d %d %d", attr->cap.max_send_wr, attr->cap.max_recv_wr, attr->cap.max_send_sge,
		attr->cap.max_recv_sge, attr->cap.max_inline_data);
	CALL(rdma_create_qp(id, NULL, attr));
	VOID(rdma_destroy_qp(id));
	say("left %d %d %d %d %d", !!id->qp, !!id->send_cq, !!id->recv_cq, !!id->send_cq_channel, !!id->recv_cq_channel);
	CALL(rdma_create_qp(id, NULL, qp_attr()));
	VOID(rdma_destroy_qp(id));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
