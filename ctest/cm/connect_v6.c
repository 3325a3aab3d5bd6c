// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A connection by IPv6.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_TCP, "[fd00:77::1]:7471"), *client;
	struct rdma_cm_event *e;

	name(listener, "listener");
	MUST(rdma_listen(listener, 4));
	client = routed(cc, RDMA_PS_TCP, "[fd00:77::1]:7471");
	name(client, "client");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	CALL(rdma_connect(client, param()));
	e = next(sc);
	show_id(e->id);
	show_id(client);
	MUST(rdma_create_qp(e->id, NULL, qp_attr()));
	CALL(rdma_accept(e->id, param()));
	take(cc);
	take(sc);
	rdma_destroy_qp(client);
	rdma_destroy_qp(e->id);
	CALL(rdma_destroy_id(client));
	destroy_child(e);
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
