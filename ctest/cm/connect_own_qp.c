// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A queue pair of the application's own: CONNECT_RESPONSE, rdma_establish, rdma_init_qp_attr.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_TCP, "10.77.0.1:7471"), *client, *child;
	struct rdma_cm_event *e;
	struct rdma_conn_param *p = param();
	static const int states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR };

	name(listener, "listener");
	MUST(rdma_listen(listener, 4));
	client = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
	name(client, "client");
	p->qp_num = 0x123;
	p->srq = 1;
	CALL(rdma_connect(client, p));
	e = next(sc);
	child = e->id;
	CALL(rdma_ack_cm_event(e));
	p->qp_num = 0x456;
	CALL(rdma_accept(child, p));
	take(cc);
	for (int i = 0; i < 5; i++) {
		struct ibv_qp_attr attr = { .qp_state = states[i] };
		int mask = 0;

		say("state %d", states[i]);
		if (CALL(rdma_init_qp_attr(client, &attr, &mask)) == 0)
			say("mask %x mtu %d dest %x access %x rd %d/%d retry %d/%d port %d pkey %d", mask,
				attr.path_mtu, attr.dest_qp_num, attr.qp_access_flags, attr.max_rd_atomic,
				attr.max_dest_rd_atomic, attr.retry_cnt, attr.rnr_retry, attr.port_num, attr.pkey_index);
	}
	CALL(rdma_establish(client));
	take(sc);
	CALL(rdma_establish(client));
	CALL(rdma_disconnect(client));
	take(sc);
	take(cc);
	CALL(rdma_destroy_id(client));
	CALL(rdma_destroy_id(child));
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
