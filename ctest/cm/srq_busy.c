// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: a shared receive queue that a queue pair still uses is lost by rdma_destroy_srq
 * (the C library takes the completion queues of the queue pair, too, and then crashes)
 * Destroyed in the wrong order, and then again: by hand, by rdma_destroy_ep, and while another id's queue pair has it.
 */
#include "trace.h"

static struct rdma_cm_id *with_queue(struct rdma_event_channel *ch)
{
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };

	MUST(rdma_create_srq(id, NULL, &srq));
	return id;
}

static void show(struct rdma_cm_id *id)
{
	say("srq %d, queue pair %d, queues %d %d", !!id->srq, !!id->qp, !!id->send_cq, !!id->recv_cq);
}

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = with_queue(ch), *other;
	struct ibv_qp_init_attr *attr;

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	VOID(rdma_destroy_srq(id));
	show(id);
	rdma_destroy_qp(id);
	show(id);
	VOID(rdma_destroy_srq(id));
	show(id);
	CALL(rdma_destroy_id(id));

	id = with_queue(ch);
	MUST(rdma_create_qp(id, NULL, qp_attr()));
	VOID(rdma_destroy_srq(id));
	rdma_destroy_ep(id);

	id = with_queue(ch);
	other = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	attr = qp_attr();
	attr->srq = id->srq;
	MUST(rdma_create_qp(other, id->pd, attr));
	VOID(rdma_destroy_srq(id));
	show(id);
	rdma_destroy_qp(other);
	VOID(rdma_destroy_srq(id));
	show(id);
	CALL(rdma_destroy_id(other));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
