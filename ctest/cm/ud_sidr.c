// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A datagram service: the request, the answer with address handle attributes, queue pair number and key.
 */
#include "trace.h"

int main(void)
{
	struct pair p;
	struct ibv_qp_init_attr *attr;

	pair_request(&p, RDMA_PS_UDP);
	show_event(p.request);
	show_id(p.child);
	attr = qp_attr();
	attr->qp_type = IBV_QPT_UD;
	CALL(rdma_create_qp(p.child, NULL, attr));
	CALL(rdma_accept(p.child, param()));
	take(p.active);
	none(p.passive);
	CALL(rdma_disconnect(p.client));
	pair_destroy(&p);
	return done();
}
