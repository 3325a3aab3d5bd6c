// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The client goes between its request and the answer: what the server sees.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	rdma_destroy_qp(p.client);
	CALL(rdma_destroy_id(p.client));
	p.client = NULL;
	take(p.passive);
	CALL(rdma_accept(p.child, param()));
	pair_destroy(&p);
	return done();
}
