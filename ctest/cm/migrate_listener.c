// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A listener moves with its waiting requests; later requests come on the new channel.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel(), *b = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(a, RDMA_PS_TCP, "10.77.0.1:7471"), *c1, *c2;
	struct rdma_cm_event *e;

	name(listener, "listener");
	MUST(rdma_listen(listener, 4));
	c1 = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
	MUST(rdma_create_qp(c1, NULL, qp_attr()));
	MUST(rdma_connect(c1, param()));
	CALL(rdma_migrate_id(listener, b));
	e = next(b);
	say("child on b: %s", e->id->channel == b ? "yes" : "no");
	CALL(rdma_reject(e->id, NULL, 0));
	destroy_child(e);
	take(cc);
	c2 = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
	MUST(rdma_create_qp(c2, NULL, qp_attr()));
	MUST(rdma_connect(c2, param()));
	e = next(b);
	destroy_child(e);
	none(a);
	rdma_destroy_qp(c1);
	rdma_destroy_qp(c2);
	CALL(rdma_destroy_id(c1));
	CALL(rdma_destroy_id(c2));
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(a);
	rdma_destroy_event_channel(b);
	rdma_destroy_event_channel(cc);
	return done();
}
