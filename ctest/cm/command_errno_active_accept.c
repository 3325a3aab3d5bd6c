// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-14
 * The active side's ACCEPT fails: CONNECT_ERROR with -errno.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	fake("fail ACCEPT nth=2 errno=ENOBUFS");
	CALL(rdma_accept(p.child, param()));
	take(p.active);
	none(p.active);
	pair_destroy(&p);
	return done();
}
