// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A rejection because of extensions.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	CALL(rdma_reject_ece(p.child, "ece", 3));
	take(p.active);
	pair_destroy(&p);
	return done();
}
