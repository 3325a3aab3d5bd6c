// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-14
 * The active queue pair cannot be moved: CONNECT_ERROR with -errno, and the peer's reaction is no news.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, param()));
	fake("verbs modify_qp errno=ENOBUFS");
	take(p.active);
	none(p.active);
	pair_destroy(&p);
	return done();
}
