// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A rejection whose length speaks of data that is not there.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	CALL(rdma_reject(p.child, NULL, 0));
	take(p.active);
	pair_destroy(&p);
	return done();
}
