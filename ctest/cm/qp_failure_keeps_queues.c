// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-21
 * A queue pair that cannot be made leaves the queues alone that were there before.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	struct ibv_qp_init_attr *attr = qp_attr();

	id->send_cq = id->recv_cq = cq;
	fake("verbs create_qp errno=ENOSPC");
	CALL(rdma_create_qp(id, NULL, attr));
	say("id's queues kept: %d", id->send_cq == cq && id->recv_cq == cq);
	id->send_cq = id->recv_cq = NULL;
	CALL(ibv_destroy_cq(cq));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
