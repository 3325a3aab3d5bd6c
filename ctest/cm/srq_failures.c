// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Shared receive queues fail with the provider's errno.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_init_attr_ex ex = { .attr = { .max_wr = 4, .max_sge = 1 } };

	fake("verbs create_srq errno=ENOSPC");
	CALL(rdma_create_srq(id, NULL, &srq));
	CALL(rdma_create_srq_ex(id, &ex));
	ex.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	ex.srq_type = IBV_SRQT_BASIC;
	CALL(rdma_create_srq_ex(id, &ex));
	say("srq %d mask %x", !!id->srq, ex.comp_mask);
	rdma_destroy_srq(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
