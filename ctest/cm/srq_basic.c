// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: a second queue on an id loses the first one; ours refuses it as with queue pairs
 * A shared receive queue: made, used by a queue pair, destroyed.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr *attr = qp_attr();

	CALL(rdma_create_srq(id, NULL, &srq));
	say("wr %d sge %d srq %d", srq.attr.max_wr, srq.attr.max_sge, !!id->srq);
	CALL(rdma_create_srq(id, NULL, &srq));
	CALL(rdma_create_qp(id, NULL, attr));
	say("attr srq %d qp srq %d", attr->srq == id->srq, id->qp->srq == id->srq);
	rdma_destroy_qp(id);
	VOID(rdma_destroy_srq(id));
	say("srq %d", !!id->srq);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
