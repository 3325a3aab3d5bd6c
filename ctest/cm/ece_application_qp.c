// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Extensions for a queue pair of the application's own: set, offered, chosen.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_TCP, "10.77.0.1:7471"), *client;
	struct ibv_ece ece = { .vendor_id = 0x15b3, .options = 7 }, got = { 0 };
	struct rdma_conn_param *p = param();
	struct rdma_cm_event *e;

	name(listener, "listener");
	MUST(rdma_listen(listener, 4));
	client = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
	name(client, "client");
	CALL(rdma_get_remote_ece(client, &got));
	say("remote %x %x %x", got.vendor_id, got.options, got.comp_mask);
	CALL(rdma_set_local_ece(client, &ece));
	ece.comp_mask = 1;
	CALL(rdma_set_local_ece(client, &ece));
	ece.comp_mask = 0;
	ece.vendor_id = 0;
	CALL(rdma_set_local_ece(client, &ece));
	p->qp_num = 5;
	CALL(rdma_connect(client, p));
	e = next(sc);
	CALL(rdma_get_remote_ece(e->id, &got));
	say("remote %x %x %x", got.vendor_id, got.options, got.comp_mask);
	ece.vendor_id = 0x15b3;
	ece.options = 3;
	CALL(rdma_set_local_ece(e->id, &ece));
	CALL(rdma_accept(e->id, p));
	take(cc);
	CALL(rdma_get_remote_ece(client, &got));
	say("remote %x %x %x", got.vendor_id, got.options, got.comp_mask);
	CALL(rdma_destroy_id(client));
	destroy_child(e);
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
