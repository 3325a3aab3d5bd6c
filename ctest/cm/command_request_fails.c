// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The set-up of a request's id fails: the peer is rejected, and the server learns of later requests.
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
	name(client, "client");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	fake("fail QUERY errno=ENOBUFS; fail QUERY_ROUTE errno=ENOBUFS");
	CALL(rdma_connect(client, param()));
	CALL(fcntl(sc->fd, F_SETFL, O_NONBLOCK));
	CALL(rdma_get_cm_event(sc, &e));
	take(cc);
	RDMAFAKE(rdmafake_reset)();
	CALL(rdma_connect(client, param()));
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id(client));
	client = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	CALL(rdma_connect(client, param()));
	destroy_child(next(sc));
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id(client));
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
