// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * ACCEPT fails: the errno survives; the queue pair is in the error state.
 */
#include "trace.h"

int main(void)
{
	struct pair p;
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr init;

	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	fake("fail ACCEPT errno=ENOBUFS");
	CALL(rdma_accept(p.child, param()));
	MUST(ibv_query_qp(p.child->qp, &a, IBV_QP_STATE, &init));
	say("state %d", a.qp_state);
	CALL(rdma_reject(p.child, NULL, 0));
	take(p.active);
	pair_destroy(&p);
	return done();
}
