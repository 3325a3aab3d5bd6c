// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: kernel rtr_mask=0xe00000
 * fake: device ip=10.77.0.1/24
 * The attribute bits 21 to 23 are passed on on Ethernet.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, param()));
	if (!p.child->qp)
		say("gone");
	take(p.active);
	pair_destroy(&p);
	return done();
}
