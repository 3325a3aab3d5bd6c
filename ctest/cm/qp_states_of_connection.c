// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The states and attributes of the queue pairs of a connection, before, during and after.
 */
#include "trace.h"

static void show(const char *who, struct rdma_cm_id *id)
{
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr init;
	int mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
		   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_DEST_QPN | IBV_QP_PATH_MTU | IBV_QP_PORT;

	MUST(ibv_query_qp(id->qp, &a, mask, &init));
	say("%s state %d access %x rd %d/%d retry %d rnr %d mtu %d port %d", who, a.qp_state, a.qp_access_flags,
		a.max_rd_atomic, a.max_dest_rd_atomic, a.retry_cnt, a.rnr_retry, a.path_mtu, a.port_num);
}

int main(void)
{
	struct pair p;
	struct rdma_conn_param *with;

	pair_request(&p, RDMA_PS_TCP);
	show("client", p.client);
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	show("child", p.child);
	with = param();
	with->responder_resources = 4;
	with->initiator_depth = 3;
	CALL(rdma_accept(p.child, with));
	show("child", p.child);
	expect_and_ack(p.active, RDMA_CM_EVENT_ESTABLISHED);
	show("client", p.client);
	expect_and_ack(p.passive, RDMA_CM_EVENT_ESTABLISHED);
	CALL(rdma_disconnect(p.client));
	show("client", p.client);
	expect_and_ack(p.passive, RDMA_CM_EVENT_DISCONNECTED);
	show("child", p.child);
	CALL(rdma_disconnect(p.child));
	show("child", p.child);
	take(p.active);
	pair_destroy(&p);
	return done();
}
