/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The queue pairs: data, errors, notification. */
#include "st.h"

#include <poll.h>
#include <pthread.h>

static struct ibv_wc one(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n = 0;

	for (int i = 0; i < 5000 && !n; i++) {
		n = ibv_poll_cq(cq, 1, &wc);
		if (!n)
			usleep(1000);
	}
	EQ(n, 1);
	return wc;
}

static void post(struct rdma_cm_id *id, struct ibv_mr *mr, enum ibv_wr_opcode op, uint64_t remote,
		 uint32_t rkey, uint32_t len, unsigned flags)
{
	struct ibv_sge s = { (uintptr_t)mr->addr, len, mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 7, .sg_list = &s, .num_sge = 1, .opcode = op,
				  .send_flags = flags, .imm_data = 0x12345678 }, *bad;

	wr.wr.rdma.remote_addr = remote;
	wr.wr.rdma.rkey = rkey;
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 5;
	}
	EQ(ibv_post_send(id->qp, &wr, &bad), 0);
}

static void data(void)
{
	uint64_t old, now;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, RDMA_PS_TCP, 5000);
	strcpy(p.cbuf, "some words");
	EQ(rdma_post_write(p.cli, NULL, p.cbuf, 11, p.cmr, IBV_SEND_SIGNALED, (uintptr_t)p.sbuf + 100,
			   p.smr->rkey), 0);
	wc = one(p.cli->send_cq);
	EQ(wc.status, 0);
	EQ(wc.opcode, IBV_WC_RDMA_WRITE);
	CHECK(!strcmp(p.sbuf + 100, "some words"));
	strcpy(p.sbuf, "to be read");
	EQ(rdma_post_read(p.cli, NULL, p.cbuf, 11, p.cmr, IBV_SEND_SIGNALED, (uintptr_t)p.sbuf, p.smr->rkey), 0);
	EQ(one(p.cli->send_cq).opcode, IBV_WC_RDMA_READ);
	CHECK(!strcmp(p.cbuf, "to be read"));
	EQ(rdma_post_recv(p.srv, (void *)9, p.sbuf, 64, p.smr), 0);
	post(p.cli, p.cmr, IBV_WR_RDMA_WRITE_WITH_IMM, (uintptr_t)p.sbuf + 200, p.smr->rkey, 11, IBV_SEND_SIGNALED);
	EQ(one(p.cli->send_cq).status, 0);
	wc = one(p.srv->recv_cq);
	EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	EQ(wc.imm_data, 0x12345678);
	EQ(wc.wr_id, 9);
	EQ(wc.byte_len, 11);
	CHECK(!strcmp(p.sbuf + 200, "to be read"));
	old = 40;
	memcpy(p.sbuf, &old, 8);
	post(p.cli, p.cmr, IBV_WR_ATOMIC_FETCH_AND_ADD, (uintptr_t)p.sbuf, p.smr->rkey, 8, IBV_SEND_SIGNALED);
	EQ(one(p.cli->send_cq).opcode, IBV_WC_FETCH_ADD);
	memcpy(&old, p.cbuf, 8);
	memcpy(&now, p.sbuf, 8);
	EQ(old, 40);
	EQ(now, 45);
	pair_close(&p);
}

static void gather(void)
{
	struct ibv_sge to[2], from[2];
	struct ibv_recv_wr rw = { .sg_list = to, .num_sge = 2 }, *rbad;
	struct ibv_send_wr sw = { .sg_list = from, .num_sge = 2, .opcode = IBV_WR_SEND_WITH_IMM,
				  .send_flags = IBV_SEND_SIGNALED, .imm_data = 3 }, *sbad;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, RDMA_PS_TCP, 5000);
	memcpy(p.cbuf, "abcdefghij", 10);
	memset(p.sbuf, '.', 40);
	from[0] = (struct ibv_sge) { (uintptr_t)p.cbuf, 3, p.cmr->lkey };
	from[1] = (struct ibv_sge) { (uintptr_t)p.cbuf + 3, 7, p.cmr->lkey };
	to[0] = (struct ibv_sge) { (uintptr_t)p.sbuf, 5, p.smr->lkey };
	to[1] = (struct ibv_sge) { (uintptr_t)p.sbuf + 20, 16, p.smr->lkey };
	EQ(ibv_post_recv(p.srv->qp, &rw, &rbad), 0);
	EQ(ibv_post_send(p.cli->qp, &sw, &sbad), 0);
	EQ(one(p.cli->send_cq).status, 0);
	wc = one(p.srv->recv_cq);
	EQ(wc.byte_len, 10);
	EQ(wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
	CHECK(!memcmp(p.sbuf, "abcde.", 6) && !memcmp(p.sbuf + 20, "fghij.", 6));
	/* Too many pieces, too much inline, a full queue. */
	sw.num_sge = 3;
	EQ(ibv_post_send(p.cli->qp, &sw, &sbad), EINVAL);
	CHECK(sbad == &sw);
	sw.num_sge = 1;
	from[0].length = 200;
	sw.send_flags = IBV_SEND_INLINE;
	EQ(ibv_post_send(p.cli->qp, &sw, &sbad), EINVAL);
	from[0].length = 4;
	sw.send_flags = 0;
	for (int i = 0; i < 16; i++)
		EQ(ibv_post_send(p.cli->qp, &sw, &sbad), 0);
	EQ(ibv_post_send(p.cli->qp, &sw, &sbad), ENOMEM);
	pair_close(&p);
}

static void errors(void)
{
	struct ibv_wc wc;
	struct pair p;

	/* The receive buffer is too small. */
	pair_open(&p, RDMA_PS_TCP, 5000);
	EQ(rdma_post_recv(p.srv, NULL, p.sbuf, 4, p.smr), 0);
	EQ(rdma_post_recv(p.srv, NULL, p.sbuf, 64, p.smr), 0);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, IBV_SEND_SIGNALED);
	EQ(one(p.cli->send_cq).status, IBV_WC_REM_INV_REQ_ERR);
	EQ(one(p.srv->recv_cq).status, IBV_WC_LOC_LEN_ERR);
	EQ(one(p.srv->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, 0);
	wc = one(p.cli->send_cq);
	EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	EQ(wc.wr_id, 7);
	pair_close(&p);
	/* A wrong remote key, a wrong local one. */
	pair_open(&p, RDMA_PS_TCP, 5000);
	post(p.cli, p.cmr, IBV_WR_RDMA_WRITE, (uintptr_t)p.sbuf, p.smr->rkey + 1, 10, IBV_SEND_SIGNALED);
	EQ(one(p.cli->send_cq).status, IBV_WC_REM_ACCESS_ERR);
	pair_close(&p);
	pair_open(&p, RDMA_PS_TCP, 5000);
	post(p.cli, p.smr, IBV_WR_RDMA_READ, (uintptr_t)p.cbuf, p.cmr->rkey, 10, IBV_SEND_SIGNALED);
	CHECK(one(p.cli->send_cq).status != 0);
	pair_close(&p);
	/* The peer is gone. */
	pair_open(&p, RDMA_PS_TCP, 5000);
	rdma_destroy_qp(p.srv);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, IBV_SEND_SIGNALED);
	EQ(one(p.cli->send_cq).status, IBV_WC_RETRY_EXC_ERR);
	pair_close(&p);
}

static void not_ready(void)
{
	struct ibv_qp_attr a = { .rnr_retry = 2 };
	struct ibv_wc wc;
	struct pair p;

	/* Seven means for ever: the send waits for the receive. */
	pair_open(&p, RDMA_PS_TCP, 5000);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, IBV_SEND_SIGNALED);
	EQ(ibv_poll_cq(p.cli->send_cq, 1, &wc), 0);
	EQ(rdma_post_recv(p.srv, NULL, p.sbuf, 64, p.smr), 0);
	EQ(one(p.cli->send_cq).status, 0);
	EQ(one(p.srv->recv_cq).status, 0);
	/* Twice 150 ms, then it is an error. */
	script("kernel rnr_ms=150");
	a.qp_state = IBV_QPS_RTS;
	EQ(ibv_modify_qp(p.cli->qp, &a, IBV_QP_STATE | IBV_QP_RNR_RETRY), 0);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, IBV_SEND_SIGNALED);
	EQ(ibv_poll_cq(p.cli->send_cq, 1, &wc), 0);
	EQ(one(p.cli->send_cq).status, IBV_WC_RNR_RETRY_EXC_ERR);
	pair_close(&p);
}

static void notified(void)
{
	struct pollfd f = { .events = POLLIN };
	struct ibv_cq *cq;
	struct pair p;
	void *ctx;

	pair_open(&p, RDMA_PS_TCP, 5000);
	f.fd = p.srv->recv_cq_channel->fd;
	EQ(rdma_post_recv(p.srv, NULL, p.sbuf, 64, p.smr), 0);
	EQ(rdma_post_recv(p.srv, NULL, p.sbuf, 64, p.smr), 0);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, IBV_SEND_SIGNALED);
	EQ(poll(&f, 1, 0), 0);
	/* Only what comes after arming counts, and with this flag only if the sender asks. */
	EQ(ibv_req_notify_cq(p.srv->recv_cq, 1), 0);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, IBV_SEND_SIGNALED);
	EQ(poll(&f, 1, 0), 0);
	EQ(rdma_post_recv(p.srv, NULL, p.sbuf, 64, p.smr), 0);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
	EQ(poll(&f, 1, 1000), 1);
	EQ(ibv_get_cq_event(p.srv->recv_cq_channel, &cq, &ctx), 0);
	CHECK(cq == p.srv->recv_cq);
	EQ(poll(&f, 1, 0), 0);
	ibv_ack_cq_events(cq, 1);
	for (int i = 0; i < 3; i++)
		EQ(one(p.srv->recv_cq).status, 0);
	pair_close(&p);
}

/* A round trip with a thread on each side, many times. */
static void *echo(void *arg)
{
	struct pair *p = arg;
	struct ibv_wc wc;

	for (int i = 0; i < 2000; i++) {
		EQ(rdma_get_recv_comp(p->srv, &wc), 1);
		EQ(wc.status, 0);
		EQ(rdma_post_recv(p->srv, NULL, p->sbuf, 64, p->smr), 0);
		EQ(rdma_post_send(p->srv, NULL, p->sbuf, 8, p->smr, IBV_SEND_SIGNALED), 0);
		EQ(rdma_get_send_comp(p->srv, &wc), 1);
		EQ(wc.status, 0);
	}
	return NULL;
}

static void round_trips(void)
{
	struct ibv_sge s;
	struct ibv_wc wc;
	struct pair p;
	pthread_t t;

	pair_open(&p, RDMA_PS_TCP, 5000);
	EQ(rdma_post_recv(p.srv, NULL, p.sbuf, 64, p.smr), 0);
	EQ(pthread_create(&t, NULL, echo, &p), 0);
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t back;

		EQ(rdma_post_recv(p.cli, NULL, p.cbuf + 64, 64, p.cmr), 0);
		memcpy(p.cbuf, &i, 8);
		s = (struct ibv_sge) { (uintptr_t)p.cbuf, 8, p.cmr->lkey };
		EQ(rdma_post_sendv(p.cli, NULL, &s, 1, IBV_SEND_SIGNALED), 0);
		EQ(rdma_get_send_comp(p.cli, &wc), 1);
		EQ(wc.status, 0);
		EQ(rdma_get_recv_comp(p.cli, &wc), 1);
		EQ(wc.status, 0);
		memcpy(&back, p.cbuf + 64, 8);
		EQ(back, i);
	}
	EQ(pthread_join(t, NULL), 0);
	pair_close(&p);
}

static void shared_receive(void)
{
	struct ibv_srq_init_attr sa = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct rdma_conn_param cp = { .rnr_retry_count = 7 };
	struct ibv_qp_init_attr a = { .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1 },
				     .qp_type = IBV_QPT_RC };
	struct ibv_async_event ae;
	struct ibv_wc wc;
	struct pair p;

	pair_request(&p, RDMA_PS_TCP, 5000);
	EQ(rdma_create_srq(p.srv, NULL, &sa), 0);
	a.srq = p.srv->srq;
	EQ(rdma_create_qp(p.srv, NULL, &a), 0);
	p.smr = rdma_reg_msgs(p.srv, p.sbuf, sizeof(p.sbuf));
	p.cmr = rdma_reg_msgs(p.cli, p.cbuf, sizeof(p.cbuf));
	EQ(rdma_accept(p.srv, &cp), 0);
	expect(p.cch, RDMA_CM_EVENT_ESTABLISHED, 0);
	expect(p.sch, RDMA_CM_EVENT_ESTABLISHED, 0);
	sa.attr.srq_limit = 1;
	EQ(ibv_modify_srq(p.srv->srq, &sa.attr, IBV_SRQ_LIMIT), 0);
	post(p.cli, p.cmr, IBV_WR_SEND, 0, 0, 10, IBV_SEND_SIGNALED);
	EQ(rdma_post_recv(p.srv, (void *)5, p.sbuf, 64, p.smr), 0);
	EQ(one(p.cli->send_cq).status, 0);
	wc = one(p.srv->recv_cq);
	EQ(wc.wr_id, 5);
	EQ(ibv_get_async_event(p.srv->verbs, &ae), 0);
	EQ(ae.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	ibv_ack_async_event(&ae);
	EQ(RDMAFAKE(rdmafake_async)("fake0", IBV_EVENT_PORT_ERR, 1), 0);
	EQ(ibv_get_async_event(p.srv->verbs, &ae), 0);
	EQ(ae.event_type, IBV_EVENT_PORT_ERR);
	EQ(ae.element.port_num, 1);
	rdma_destroy_qp(p.srv);
	rdma_destroy_srq(p.srv);
	pair_close(&p);
}

static void asked(void)
{
	struct ibv_context **list = rdma_get_devices(NULL);
	struct ibv_device_attr_ex x;
	struct ibv_port_attr port;
	struct ibv_gid_entry e;
	union ibv_gid gid;
	__be16 pkey;

	CHECK(list && list[0]);
	EQ(ibv_query_port(list[0], 1, &port), 0);
	EQ(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
	EQ(port.lid, 9);
	EQ(ibv_query_port(list[0], 3, &port), EINVAL);
	EQ(ibv_query_gid(list[0], 1, 0, &gid), 0);
	EQ(gid.raw[15], 0x34);
	EQ(ibv_query_gid_ex(list[0], 1, 0, &e, 0), 0);
	EQ(e.gid_type, IBV_GID_TYPE_IB);
	EQ(ibv_query_pkey(list[0], 1, 1, &pkey), 0);
	EQ(be16toh(pkey), 0x8001);
	EQ(ibv_get_pkey_index(list[0], 1, htobe16(0x8001)), 1);
	EQ(ibv_query_device_ex(list[0], NULL, &x), 0);
	EQ(x.phys_port_cnt_ex, 2);
	EQ(be64toh(x.orig_attr.node_guid), 0x1234);
	EQ(ibv_get_device_index(list[0]->device), 17);
	CHECK(!strcmp(ibv_get_device_name(list[0]->device), "mine"));
	rdma_free_devices(list);
}

const struct test verbs_tests[] = {
	{ "data", "", data },
	{ "data-ib", "device type=ib ip=10.77.0.1", data },
	{ "gather", "", gather },
	{ "errors", "", errors },
	{ "not-ready", "", not_ready },
	{ "notified", "", notified },
	{ "round-trips", "", round_trips },
	{ "round-trips-iwarp", "device type=iwarp ip=10.77.0.1", round_trips },
	{ "shared-receive", "", shared_receive },
	{ "asked", "device name=mine type=ib guid=0x1234 index=17 lid=9 ports=2 pkey=0xffff,0x8001", asked },
	{ NULL, NULL, NULL },
};
