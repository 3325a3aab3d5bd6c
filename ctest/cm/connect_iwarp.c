// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device type=iwarp ip=10.77.0.1/24
 * A connection over iWARP: no paths, and the queue pair is drained to disconnect.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	show_event(p.request);
	show_id(p.child);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, param()));
	take(p.active);
	take(p.passive);
	CALL(rdma_disconnect(p.client));
	take(p.active);
	take(p.passive);
	CALL(rdma_disconnect(p.client));
	pair_destroy(&p);
	return done();
}
