// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-8
 * The application leaves a memory region in the shared domain: the domain stays for the next id.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	static char buffer[4096];
	struct ibv_pd *pd = id->pd;
	struct ibv_mr *mr = ibv_reg_mr(pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);

	CALL(rdma_destroy_id(id));
	id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	say("same domain: %d", id->pd == pd);
	CALL(ibv_dereg_mr(mr));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
