// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device type=ib ip=10.77.0.1/24 lid=5
 * A connection over InfiniBand with every field; the child has the paths of the request.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	show_event(p.request);
	show_id(p.child);
	show_id(p.client);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, param()));
	take(p.active);
	take(p.passive);
	CALL(rdma_disconnect(p.child));
	take(p.active);
	take(p.passive);
	pair_destroy(&p);
	return done();
}
