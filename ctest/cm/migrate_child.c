// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A child moves away from its listener's channel before it is accepted.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *b = channel();
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_ack_cm_event(p.request));
	p.request = NULL;
	CALL(rdma_migrate_id(p.child, b));
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, param()));
	take(p.active);
	take(b);
	none(p.passive);
	pair_destroy(&p);
	rdma_destroy_event_channel(b);
	return done();
}
