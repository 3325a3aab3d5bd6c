// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * INIT_QP_ATTR fails at each place: the errno survives, nothing leaks.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	for (int nth = 1; nth <= 3; nth++) {
		char script[64];
		bool made;

		pair_request(&p, RDMA_PS_TCP);
		RDMAFAKE(rdmafake_reset)();
		snprintf(script, sizeof(script), "fail INIT_QP_ATTR nth=%d errno=ENOBUFS", nth);
		fake(script);
		say("%s", script);
		made = CALL(rdma_create_qp(p.child, NULL, qp_attr())) == 0;
		if (made)
			CALL(rdma_accept(p.child, param()));
		pair_destroy(&p);
	}
	return done();
}
