// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Accepting fails because the queue pair cannot be moved: the errno survives.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	fake("verbs modify_qp errno=ENOBUFS");
	CALL(rdma_accept(p.child, param()));
	CALL(rdma_reject(p.child, NULL, 0));
	take(p.active);
	pair_destroy(&p);
	return done();
}
