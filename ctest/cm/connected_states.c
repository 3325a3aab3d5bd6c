// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The calls of earlier states on a connected pair.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_connect(&p);
	CALL(rdma_bind_addr(p.client, addr("10.77.0.1:7000")));
	CALL(rdma_resolve_addr(p.client, NULL, addr("10.77.0.1:7000"), 1000));
	CALL(rdma_resolve_route(p.client, 1000));
	CALL(rdma_connect(p.client, param()));
	CALL(rdma_listen(p.client, 1));
	CALL(rdma_reject(p.client, NULL, 0));
	CALL(rdma_establish(p.client));
	CALL(rdma_create_qp(p.client, NULL, qp_attr()));
	CALL(rdma_notify(p.client, IBV_EVENT_COMM_EST));
	CALL(rdma_notify(p.client, 99));
	CALL(rdma_accept(p.child, param()));
	CALL(rdma_listen(p.child, 1));
	pair_destroy(&p);
	return done();
}
