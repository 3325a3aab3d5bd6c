// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A datagram request rejected with data.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_UDP);
	CALL(rdma_reject(p.child, "go away", 7));
	take(p.active);
	pair_destroy(&p);
	return done();
}
