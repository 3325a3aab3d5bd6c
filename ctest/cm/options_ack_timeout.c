// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The ack timeout reaches the queue pair of the side that asked for it, whenever it asks before the
 * queue pair is ready to send; a wrong length or value is refused.
 */
#include "trace.h"

static void show(const char *who, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(ibv_query_qp(id->qp, &attr, IBV_QP_TIMEOUT, &init));
	say("%s timeout %d", who, attr.timeout);
}

static int set(struct rdma_cm_id *id, uint8_t timeout)
{
	return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1);
}

static void connection(int early, int late, int passive)
{
	struct pair p;

	say("active %d before the address, %d with it; passive %d", early, late, passive);
	p.passive = channel();
	p.active = channel();
	p.listener = bound(p.passive, RDMA_PS_TCP, "10.77.0.1:7000");
	MUST(rdma_listen(p.listener, 1));
	p.client = new_id(p.active, RDMA_PS_TCP);
	if (early)
		CALL(set(p.client, early));
	MUST(rdma_resolve_addr(p.client, NULL, addr("10.77.0.1:7000"), 1000));
	expect_and_ack(p.active, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (late)
		CALL(set(p.client, late));
	MUST(rdma_resolve_route(p.client, 1000));
	expect_and_ack(p.active, RDMA_CM_EVENT_ROUTE_RESOLVED);
	MUST(rdma_create_qp(p.client, NULL, qp_attr()));
	MUST(rdma_connect(p.client, param()));
	p.request = expect(p.passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	p.child = p.request->id;
	if (passive)
		CALL(set(p.child, passive));
	MUST(rdma_create_qp(p.child, NULL, qp_attr()));
	MUST(rdma_accept(p.child, param()));
	expect_and_ack(p.active, RDMA_CM_EVENT_ESTABLISHED);
	expect_and_ack(p.passive, RDMA_CM_EVENT_ESTABLISHED);
	show("client", p.client);
	show("child", p.child);
	pair_destroy(&p);
}

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);
	uint8_t two[2] = { 9, 9 };

	CALL(set(id, 0));
	CALL(set(id, 31));
	CALL(set(id, 32));
	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, two, 2));
	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, two, 0));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	connection(9, 0, 0);
	connection(0, 11, 0);
	connection(9, 11, 13);
	connection(0, 0, 13);
	return done();
}
