// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An XRC receive side: domain, queue with its completion queue, queue pair; all given back.
 */
#include "trace.h"

int main(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_family = AF_INET, .ai_port_space = RDMA_PS_TCP,
					   .ai_qp_type = IBV_QPT_XRC_RECV }, *res;
	struct rdma_cm_id *id;
	struct ibv_srq_init_attr_ex ex = { .attr = { .max_wr = 4, .max_sge = 1 }, .comp_mask = IBV_SRQ_INIT_ATTR_TYPE,
					   .srq_type = IBV_SRQT_XRC };

	MUST(rdma_getaddrinfo("10.77.0.1", "7471", &hints, &res));
	CALL(rdma_create_ep(&id, res, NULL, NULL));
	rdma_freeaddrinfo(res);
	say("qp type %d", id->qp_type);
	CALL(rdma_create_srq_ex(id, &ex));
	say("srq %d recv_cq %d channel %d mask %x", !!id->srq, !!id->recv_cq, !!id->recv_cq_channel, ex.comp_mask);
	VOID(rdma_destroy_srq(id));
	say("srq %d recv_cq %d channel %d", !!id->srq, !!id->recv_cq, !!id->recv_cq_channel);
	CALL(rdma_create_srq_ex(id, &ex));
	VOID(rdma_destroy_ep(id));
	return done();
}
