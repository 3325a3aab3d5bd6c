// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The listener goes before its children and before unread requests.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_ack_cm_event(p.request));
	p.request = NULL;
	CALL(rdma_destroy_id(p.listener));
	p.listener = NULL;
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, param()));
	take(p.active);
	take(p.passive);
	pair_destroy(&p);
	return done();
}
