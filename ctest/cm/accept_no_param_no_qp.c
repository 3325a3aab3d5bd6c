// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * accept with neither parameters nor a queue pair: EINVAL.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	CALL(rdma_accept(p.child, NULL));
	pair_destroy(&p);
	return done();
}
