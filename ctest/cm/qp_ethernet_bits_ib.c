// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device type=ib ip=10.77.0.1/24
 * fake: kernel rtr_mask=0xe00000
 * The Ethernet-only attribute bits 21 to 23 are left out on InfiniBand when moving to RTR.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	CALL(rdma_accept(p.child, param()));
	take(p.active);
	take(p.passive);
	pair_destroy(&p);
	return done();
}
