// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The listener goes while a request waits unread: the peer is told.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_TCP, "10.77.0.1:7471"), *client;

	MUST(rdma_listen(listener, 4));
	client = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
	name(client, "client");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	MUST(rdma_connect(client, param()));
	CALL(rdma_destroy_id(listener));
	take(cc);
	none(sc);
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id(client));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
