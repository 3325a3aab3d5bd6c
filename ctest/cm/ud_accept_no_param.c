// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A datagram request accepted without parameters, with a queue pair and without.
 */
#include "trace.h"

int main(void)
{
	struct pair p;
	struct ibv_qp_init_attr *attr;

	pair_request(&p, RDMA_PS_UDP);
	attr = qp_attr();
	attr->qp_type = IBV_QPT_UD;
	MUST(rdma_create_qp(p.child, NULL, attr));
	CALL(rdma_accept(p.child, NULL));
	take(p.active);
	pair_destroy(&p);
	return done();
}
