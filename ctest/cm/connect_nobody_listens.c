// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Connecting where nobody listens.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, "10.77.0.1:7999");

	name(id, "id");
	MUST(rdma_create_qp(id, NULL, qp_attr()));
	CALL(rdma_connect(id, param()));
	take(ch);
	rdma_destroy_qp(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
