// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A datagram service with the application's own queue pair number; private data both ways.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_UDP, "10.77.0.1:7471"), *client;
	struct rdma_conn_param *p = param();
	struct rdma_cm_event *e;

	name(listener, "listener");
	MUST(rdma_listen(listener, 4));
	client = routed(cc, RDMA_PS_UDP, "10.77.0.1:7471");
	name(client, "client");
	p->private_data = "who is there";
	p->private_data_len = 12;
	CALL(rdma_connect(client, p));
	e = next(sc);
	p->qp_num = 0x789;
	p->private_data = "me";
	p->private_data_len = 2;
	CALL(rdma_accept(e->id, p));
	take(cc);
	CALL(rdma_destroy_id(client));
	destroy_child(e);
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
