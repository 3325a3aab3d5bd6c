// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * accept without parameters: those of the request are used.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, NULL));
	take(p.active);
	take(p.passive);
	pair_destroy(&p);
	return done();
}
