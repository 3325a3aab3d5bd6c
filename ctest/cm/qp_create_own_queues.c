// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A queue pair on the application's own domain and queues, which survive it.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);

	attr->send_cq = attr->recv_cq = cq;
	attr->qp_context = cq;
	CALL(rdma_create_qp(id, pd, attr));
	say("id's queues %d/%d pd own %d qp pd %d context %d", !!id->send_cq, !!id->recv_cq, id->pd == pd, id->qp->pd == pd,
		id->qp->qp_context == cq);
	VOID(rdma_destroy_qp(id));
	CALL(ibv_destroy_cq(cq));
	CALL(ibv_dealloc_pd(pd));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
