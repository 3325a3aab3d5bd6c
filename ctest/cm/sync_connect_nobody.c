// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A synchronous connect where nobody listens.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *client = routed(NULL, RDMA_PS_TCP, "10.77.0.1:7999");

	name(client, "client");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	CALL(rdma_connect(client, param()));
	show_event(client->event);
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id(client));
	return done();
}
