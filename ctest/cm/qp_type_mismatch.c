// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A queue pair type that does not fit the id.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();

	attr->qp_type = IBV_QPT_UD;
	CALL(rdma_create_qp(id, NULL, attr));
	if (id->qp)
		rdma_destroy_qp(id);
	attr = qp_attr();
	attr->qp_type = 77;
	CALL(rdma_create_qp(id, NULL, attr));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
