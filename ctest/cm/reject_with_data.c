// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A rejection with private data and its status.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	CALL(rdma_reject(p.child, "sorry", 5));
	take(p.active);
	none(p.active);
	CALL(rdma_connect(p.client, param()));
	CALL(rdma_accept(p.child, param()));
	pair_destroy(&p);
	return done();
}
