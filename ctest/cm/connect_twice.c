// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A second connect while the first is under way.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	CALL(rdma_connect(p.client, param()));
	CALL(rdma_resolve_route(p.client, 1000));
	CALL(rdma_disconnect(p.client));
	pair_destroy(&p);
	return done();
}
