// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A queue pair with no send or receive entries.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();

	attr->cap.max_send_wr = attr->cap.max_recv_wr = 0;
	CALL(rdma_create_qp(id, NULL, attr));
	say("queues %d/%d", !!id->send_cq, !!id->recv_cq);
	if (id->qp)
		rdma_destroy_qp(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
