// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A connected client goes without disconnecting.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_connect(&p);
	rdma_destroy_qp(p.client);
	CALL(rdma_destroy_id(p.client));
	p.client = NULL;
	take(p.passive);
	CALL(rdma_disconnect(p.child));
	pair_destroy(&p);
	return done();
}
