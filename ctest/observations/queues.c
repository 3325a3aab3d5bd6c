// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Queue pairs: states and what they allow, completions, errors at both ends. */
#include "observations.h"

static void state(const char *what, struct ibv_qp *qp)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		observe(what, "cannot be asked");
	else
		observe(what, "%s", attr.qp_state < 7 ? names[attr.qp_state] : "?");
}

static int move(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static void attributes(const char *who, struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	char what[80];

#define FIELD(name, format, value) (snprintf(what, sizeof what, "%s: %s", who, name), observe(what, format, value))
	MUST(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_ACCESS_FLAGS, &init));
	FIELD("path MTU", "%d", attr.path_mtu);
	FIELD("retries", "%d", attr.retry_cnt);
	FIELD("RNR retries", "%d", attr.rnr_retry);
	FIELD("RNR timer", "%d", attr.min_rnr_timer);
	FIELD("access", "%x", attr.qp_access_flags);
	FIELD("port", "%d", attr.port_num);
	FIELD("partition key index", "%d", attr.pkey_index);
	FIELD("global route", "%d", attr.ah_attr.is_global);
	FIELD("hop limit", "%d", attr.ah_attr.grh.hop_limit);
	FIELD("a time-out", "%d", attr.timeout > 0);
	FIELD("another queue pair", "%d", attr.dest_qp_num != 0);
	FIELD("type", "%d", init.qp_type);
	FIELD("signals all", "%d", init.sq_sig_all);
#undef FIELD
}

void observe_states(void)
{
	struct rdma_event_channel *events = channel();
	struct rdma_cm_id *id = bound(events, RDMA_PS_TCP, "10.77.0.1");
	struct ibv_qp_init_attr attr = *qp_attr();
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT };
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 10, NULL, NULL, 0);
	struct end end = { .id = id };
	struct ibv_qp *qp;
	struct connected c;
	int mask = 0;

	attr.send_cq = attr.recv_cq = cq;
	id->qp = qp = ibv_create_qp(id->pd, &attr);
	end.mr = ibv_reg_mr(id->pd, end.bytes, sizeof end.bytes, IBV_ACCESS_LOCAL_WRITE);
	state("new queue pair", qp);
	CODED("RESET: receive", receive_at(&end, 0, 8, 1));
	CODED("RESET: send", send_from(&end, IBV_WR_SEND, 0, 8, NULL, 0));
	CODED("RESET: to RTS", move(qp, IBV_QPS_RTS));
	CODED("RESET: to RTR", move(qp, IBV_QPS_RTR));
	CODED("RESET: to INIT without what it needs", move(qp, IBV_QPS_INIT));
	CODED("RESET: init attributes", rdma_init_qp_attr(id, &to, &mask));
	observe("INIT: attributes", "%x, access %x, port %d", mask, to.qp_access_flags, to.port_num);
	CODED("RESET: to INIT", ibv_modify_qp(qp, &to, mask));
	state("after it", qp);
	CODED("INIT: receive", receive_at(&end, 0, 8, 1));
	CODED("INIT: send", send_from(&end, IBV_WR_SEND, 0, 8, NULL, 0));
	CODED("INIT: to RTS", move(qp, IBV_QPS_RTS));
	to.qp_state = IBV_QPS_RTR;
	CALLED("INIT: RTR attributes without a connection", rdma_init_qp_attr(id, &to, &mask));
	CODED("INIT: to ERR", move(qp, IBV_QPS_ERR));
	observe_completion("INIT to ERR: the receive", cq);
	CODED("ERR: receive", receive_at(&end, 0, 8, 2));
	observe_completion("ERR: the receive", cq);
	CODED("ERR: send", send_from(&end, IBV_WR_SEND, 0, 8, NULL, 0));
	observe_completion("ERR: the send", cq);
	CODED("ERR: to RTS", move(qp, IBV_QPS_RTS));
	CODED("ERR: to RESET", move(qp, IBV_QPS_RESET));
	state("and then", qp);
	ibv_destroy_qp(qp);
	id->qp = NULL;
	ibv_dereg_mr(end.mr);
	ibv_destroy_cq(cq);
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(events);

	connect_ends(&c);
	state("connected: the client's queue pair", c.client.id->qp);
	state("connected: the server's queue pair", c.server.id->qp);
	attributes("client", c.client.id->qp);
	attributes("server", c.server.id->qp);
	CODED("RTS: to INIT", move(c.client.id->qp, IBV_QPS_INIT));
	CODED("RTS: too many receives", ({
		int result = 0, posted = 0;
		while (!result && posted < 100000)
			result = receive_at(&c.client, 0, 8, (uint64_t)posted++);
		result;
	}));
	CODED("RTS: a key that is none", ({
		struct ibv_sge sge = { (uintptr_t)c.client.bytes, 8, 0x1234 };
		struct ibv_send_wr wr = { .wr_id = 6, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
		ibv_post_send(c.client.id->qp, &wr, &bad);
	}));
	CODED("RTS: too many pieces", ({
		struct ibv_sge sge[40] = { { 0 } };
		struct ibv_send_wr wr = { .sg_list = sge, .num_sge = 40, .opcode = IBV_WR_SEND }, *bad;
		ibv_post_send(c.server.id->qp, &wr, &bad);
	}));
	CODED("RTS: more inline than it takes", send_from(&c.server, IBV_WR_SEND, IBV_SEND_INLINE, 250, NULL, 0));
	CALLED("disconnected by the client", rdma_disconnect(c.client.id));
	state("disconnected: the client's queue pair", c.client.id->qp);
	expect_and_ack(c.pair.passive, RDMA_CM_EVENT_DISCONNECTED);
	state("disconnected: the server's queue pair", c.server.id->qp);
	close_ends(&c);
}

/* One work request, and the completions that it makes. */
static void work(const char *name, enum ibv_wr_opcode opcode, unsigned flags, unsigned length, bool received)
{
	struct connected c;
	char what[80];
	int result;

	connect_ends(&c);
	MUST(receive_at(&c.server, 128, 64, 1));
	memset(c.client.bytes, 'c', 64);
	memset(c.server.bytes, 0, 64);
	memcpy(c.server.bytes, &(uint64_t){ 3 }, 8);
	result = send_from(&c.client, opcode, flags, length, &c.server, c.server.mr->rkey);
	snprintf(what, sizeof what, "%s: post", name);
	observe_code(what, result);
	snprintf(what, sizeof what, "%s: completion", name);
	observe_completion(what, c.client.id->send_cq);
	snprintf(what, sizeof what, "%s: at the other end", name);
	if (received) {
		struct ibv_wc wc = completion(c.server.id->recv_cq);

		observe(what, "status %d, opcode %d, %d bytes, flags %x, from the client %d, %.3s", wc.status, wc.opcode, (int)wc.byte_len,
			wc.wc_flags, wc.src_qp == 0 || wc.src_qp == c.client.id->qp->qp_num, c.server.bytes + 128);
	} else {
		observe(what, "%.3s, number %d, back %d", c.server.bytes[0] == 'c' ? c.server.bytes : "-",
			c.server.bytes[0] < 32 ? c.server.bytes[0] : -1, c.client.bytes[0] < 32 ? c.client.bytes[0] : -1);
	}
	close_ends(&c);
}

void observe_completions(void)
{
	work("send", IBV_WR_SEND, 0, 8, true);
	work("send of nothing", IBV_WR_SEND, 0, 0, true);
	work("send inline", IBV_WR_SEND, IBV_SEND_INLINE, 8, true);
	work("send with immediate", IBV_WR_SEND_WITH_IMM, 0, 8, true);
	work("send solicited", IBV_WR_SEND, IBV_SEND_SOLICITED, 8, true);
	work("write", IBV_WR_RDMA_WRITE, 0, 8, false);
	work("write of nothing", IBV_WR_RDMA_WRITE, 0, 0, false);
	work("write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, true);
	work("read", IBV_WR_RDMA_READ, 0, 8, false);
	work("compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, 0, 8, false);
	work("fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, false);
}

/* A request that the other end refuses, what both see, and what comes of the queue pairs. */
static void failing(const char *name, int receives, unsigned receive, enum ibv_wr_opcode opcode, unsigned length, int key, int access)
{
	struct connected c;
	char what[80];
	unsigned rkey;

	connect_ends(&c);
	if (access >= 0) {
		ibv_dereg_mr(c.server.mr);
		c.server.mr = ibv_reg_mr(c.server.id->pd, c.server.bytes, length > 64 ? 64 : sizeof c.server.bytes, access);
	}
	rkey = key ? c.server.mr->rkey ^ 0x5500 : c.server.mr->rkey;
	for (int i = 0; i < receives; i++)
		MUST(receive_at(&c.server, 128, receive, 1));
	MUST(receive_at(&c.client, 128, 8, 8));
	snprintf(what, sizeof what, "%s: post", name);
	CODED(what, send_from(&c.client, opcode, 0, length, &c.server, rkey));
	snprintf(what, sizeof what, "%s: completion", name);
	observe_completion(what, c.client.id->send_cq);
	if (receives) {
		snprintf(what, sizeof what, "%s: the server's receive", name);
		observe_completion(what, c.server.id->recv_cq);
	}
	snprintf(what, sizeof what, "%s: the client's receive", name);
	observe_completion(what, c.client.id->recv_cq);
	snprintf(what, sizeof what, "%s: the client's queue pair", name);
	state(what, c.client.id->qp);
	snprintf(what, sizeof what, "%s: the server's queue pair", name);
	state(what, c.server.id->qp);
	snprintf(what, sizeof what, "%s: events of the client", name);
	observe_events(what, c.pair.active);
	close_ends(&c);
}

static void without_retries(void)
{
	struct connected c;

	memset(&c, 0, sizeof c);
	pair_request(&c.pair, RDMA_PS_TCP);
	MUST(rdma_ack_cm_event(c.pair.request));
	c.pair.request = NULL;
	MUST(rdma_create_qp(c.pair.child, NULL, qp_attr()));
	struct rdma_conn_param few = *param();

	/* Of the accepting side: it is the client's. */
	few.rnr_retry_count = 1;
	MUST(rdma_accept(c.pair.child, &few));
	expect_and_ack(c.pair.active, RDMA_CM_EVENT_ESTABLISHED);
	expect_and_ack(c.pair.passive, RDMA_CM_EVENT_ESTABLISHED);
	c.client.id = c.pair.client;
	c.server.id = c.pair.child;
	c.client.mr = ibv_reg_mr(c.client.id->pd, c.client.bytes, sizeof c.client.bytes, IBV_ACCESS_LOCAL_WRITE);
	c.server.mr = ibv_reg_mr(c.server.id->pd, c.server.bytes, sizeof c.server.bytes, IBV_ACCESS_LOCAL_WRITE);
	attributes("one RNR retry", c.client.id->qp);
	MUST(receive_at(&c.client, 128, 8, 8));
	CODED("no receive: first", send_from(&c.client, IBV_WR_SEND, 0, 8, NULL, 0));
	CODED("no receive: second", send_from(&c.client, IBV_WR_SEND, 0, 8, NULL, 0));
	observe_completion("no receive: the first", c.client.id->send_cq);
	observe_completion("no receive: the second", c.client.id->send_cq);
	observe_completion("no receive: the client's receive", c.client.id->recv_cq);
	state("no receive: the client's queue pair", c.client.id->qp);
	state("no receive: the server's queue pair", c.server.id->qp);
	close_ends(&c);
}

void observe_errors(void)
{
	enum { LOCAL = IBV_ACCESS_LOCAL_WRITE };

	failing("a longer send than the receive", 1, 4, IBV_WR_SEND, 8, 0, -1);
	failing("write with a wrong key", 0, 0, IBV_WR_RDMA_WRITE, 8, 1, -1);
	failing("write without the right", 0, 0, IBV_WR_RDMA_WRITE, 8, 0, LOCAL);
	failing("write beyond the end", 0, 0, IBV_WR_RDMA_WRITE, 65, 0, LOCAL | IBV_ACCESS_REMOTE_WRITE);
	failing("read without the right", 0, 0, IBV_WR_RDMA_READ, 8, 0, LOCAL);
	failing("read with a wrong key", 0, 0, IBV_WR_RDMA_READ, 8, 1, -1);
	failing("swap without the right", 0, 0, IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0, LOCAL);
	without_retries();
}

void observe_shared_queues(void)
{
	struct rdma_event_channel *events = channel();
	struct rdma_cm_id *id = bound(events, RDMA_PS_TCP, "10.77.0.1");
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq_attr change = { .srq_limit = 2 };
	struct ibv_recv_wr wr = { .wr_id = 4 }, *bad;
	struct ibv_qp_init_attr init = *qp_attr();
	struct ibv_srq *srq;
	int posted = 0;

	CALLED("shared queue: rdma_create_srq", rdma_create_srq(id, NULL, &attr));
	srq = id->srq;
	CODED("shared queue: limit 2", ibv_modify_srq(srq, &change, IBV_SRQ_LIMIT));
	change.srq_limit = 10000;
	CODED("shared queue: limit 10000", ibv_modify_srq(srq, &change, IBV_SRQ_LIMIT));
	CODED("shared queue: a receive", ibv_post_srq_recv(srq, &wr, &bad));
	while (posted < 100000 && !ibv_post_srq_recv(srq, &wr, &bad))
		posted++;
	observe("shared queue: is full at last", "%d", posted < 100000);
	CALLED("shared queue: a queue pair", rdma_create_qp(id, NULL, &init));
	observe("shared queue: its queue pair uses it", "%d", id->qp && id->qp->srq == srq);
	if (id->qp) {
		struct end end = { .id = id };

		end.mr = ibv_reg_mr(id->pd, end.bytes, sizeof end.bytes, IBV_ACCESS_LOCAL_WRITE);
		CODED("shared queue: receive at the queue pair", receive_at(&end, 0, 8, 1));
		ibv_dereg_mr(end.mr);
		CODED("shared queue: destroy in use", ibv_destroy_srq(srq));
		rdma_destroy_qp(id);
	}
	rdma_destroy_srq(id);
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(events);
}

static void child_calls(void *arg)
{
	struct pair *p = arg;
	struct rdma_event_channel *own = rdma_create_event_channel();

	CALLED("child: a new channel", own ? 0 : -1);
	CALLED("child: disconnect of the parent's connection", rdma_disconnect(p->client));
	CALLED("child: another backlog of the parent's listener", rdma_listen(p->listener, 2));
	CALLED("child: a new id on the parent's channel", ({ struct rdma_cm_id *id; rdma_create_id(p->active, &id, NULL, RDMA_PS_TCP); }));
	CALLED("child: migrate the parent's listener", rdma_migrate_id(p->listener, own));
	fflush(stdout);
	_exit(0);
}

void observe_processes(void)
{
	struct pair p;

	pair_connect(&p);
	in_child("child", child_calls, &p);
	CALLED("parent: disconnect", rdma_disconnect(p.client));
	observe_events("parent: events of the server", p.passive);
	CALLED("parent: destroy the listener that was moved", rdma_destroy_id(p.listener));
	p.listener = NULL;
	pair_destroy(&p);
}
