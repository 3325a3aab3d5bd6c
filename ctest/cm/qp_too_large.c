// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Sizes beyond the device: the provider's errno.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_qp_init_attr *attr = qp_attr();

	attr->cap.max_send_wr = 1 << 24;
	CALL(rdma_create_qp(id, NULL, attr));
	attr = qp_attr();
	attr->cap.max_send_sge = 1000;
	CALL(rdma_create_qp(id, NULL, attr));
	attr = qp_attr();
	attr->cap.max_inline_data = 1 << 20;
	CALL(rdma_create_qp(id, NULL, attr));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
