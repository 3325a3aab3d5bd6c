// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-20
 * One queue of the application's, the other of the library's: the library's is given back with its channel.
 */
#include "trace.h"

static void half(struct rdma_event_channel *ch, bool send)
{
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);

	if (send)
		attr->send_cq = cq;
	else
		attr->recv_cq = cq;
	CALL(rdma_create_qp(id, NULL, attr));
	say("id's queues %d/%d", !!id->send_cq, !!id->recv_cq);
	VOID(rdma_destroy_qp(id));
	CALL(ibv_destroy_cq(cq));
	CALL(rdma_destroy_id(id));
}

int main(void)
{
	struct rdma_event_channel *ch = channel();

	half(ch, true);
	half(ch, false);
	rdma_destroy_event_channel(ch);
	return done();
}
