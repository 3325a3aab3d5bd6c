// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * CONNECT, ACCEPT, REJECT and DISCONNECT fail once each: the errno survives, the next try works.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	fake("fail CONNECT errno=ENOBUFS");
	p.passive = channel();
	p.active = channel();
	p.listener = bound(p.passive, RDMA_PS_TCP, "10.77.0.1:7471");
	MUST(rdma_listen(p.listener, 1));
	p.client = routed(p.active, RDMA_PS_TCP, "10.77.0.1:7471");
	name(p.client, "client");
	name(p.listener, "listener");
	MUST(rdma_create_qp(p.client, NULL, qp_attr()));
	CALL(rdma_connect(p.client, param()));
	CALL(rdma_connect(p.client, param()));
	p.request = next(p.passive);
	p.child = p.request->id;
	fake("fail REJECT errno=ENXIO; fail DISCONNECT errno=ESHUTDOWN");
	CALL(rdma_reject(p.child, NULL, 0));
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, param()));
	take(p.active);
	take(p.passive);
	CALL(rdma_disconnect(p.client));
	CALL(rdma_disconnect(p.client));
	take(p.passive);
	pair_destroy(&p);
	return done();
}
