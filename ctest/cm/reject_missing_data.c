// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A rejection with a length but no data: the data is left out.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	CALL(rdma_reject(p.child, NULL, 5));
	take(p.active);
	pair_destroy(&p);
	return done();
}
