// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * connect without parameters: what the device can do is offered.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_TCP, "10.77.0.1:7471"), *client;
	struct rdma_cm_event *e;

	name(listener, "listener");
	MUST(rdma_listen(listener, 4));
	client = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	CALL(rdma_connect(client, NULL));
	e = next(sc);
	destroy_child(e);
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id(client));
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
