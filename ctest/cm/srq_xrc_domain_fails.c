// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The XRC domain cannot be opened: the errno survives, nothing leaks.
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
	MUST(rdma_create_ep(&id, res, NULL, NULL));
	rdma_freeaddrinfo(res);
	fake("verbs open_xrcd errno=ENOSPC");
	CALL(rdma_create_srq_ex(id, &ex));
	fake("verbs create_srq_ex errno=EMFILE");
	CALL(rdma_create_srq_ex(id, &ex));
	say("srq %d recv_cq %d", !!id->srq, !!id->recv_cq);
	VOID(rdma_destroy_ep(id));
	return done();
}
