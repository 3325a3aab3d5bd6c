/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections: every way to begin and to end one. */
#include "st.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

static void channel(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct pollfd p = { .events = POLLIN };
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	CHECK(ch != NULL);
	p.fd = ch->fd;
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	EQ(poll(&p, 1, 0), 0);
	EQ(fcntl(ch->fd, F_SETFL, fcntl(ch->fd, F_GETFL) | O_NONBLOCK), 0);
	FAILS(rdma_get_cm_event(ch, &ev), EAGAIN);
	EQ(rdma_resolve_addr(id, NULL, addr("10.77.0.1", 5000), 1000), 0);
	EQ(poll(&p, 1, 1000), 1);
	EQ(p.revents & POLLIN, POLLIN);
	expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	EQ(poll(&p, 1, 0), 0);
	/* Events of a destroyed id vanish, and with them the readiness. */
	EQ(rdma_resolve_route(id, 1000), 0);
	EQ(poll(&p, 1, 0), 1);
	EQ(rdma_destroy_id(id), 0);
	EQ(poll(&p, 1, 0), 0);
	rdma_destroy_event_channel(ch);
	EQ(live_now().channels, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void interrupted(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct sigaction sa = { .sa_handler = on_alarm };
	struct rdma_cm_event *ev;

	sigaction(SIGALRM, &sa, NULL);
	ualarm(50000, 0);
	FAILS(rdma_get_cm_event(ch, &ev), EINTR);
	rdma_destroy_event_channel(ch);
}

static void full(void)
{
	struct pair p;

	pair_open(&p, RDMA_PS_TCP, 5000);
	EQ(rdma_get_dst_port(p.cli), rdma_get_src_port(p.srv));
	EQ(rdma_get_src_port(p.cli), rdma_get_dst_port(p.srv));
	CHECK(p.cli->verbs == p.srv->verbs);
	EQ(rdma_disconnect(p.cli), 0);
	expect(p.sch, RDMA_CM_EVENT_DISCONNECTED, 0);
	EQ(rdma_disconnect(p.srv), 0);
	expect(p.cch, RDMA_CM_EVENT_DISCONNECTED, 0);
	pair_close(&p);
}

static void private_data(void)
{
	struct rdma_conn_param cp = { .private_data = "yes", .private_data_len = 4, .rnr_retry_count = 7 };
	struct rdma_cm_event *ev;
	struct rdma_cm_id *srv, *l, *c;
	struct rdma_event_channel *ch = rdma_create_event_channel();

	EQ(rdma_create_id(ch, &l, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_create_id(ch, &c, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_bind_addr(l, addr("0.0.0.0", 5000)), 0);
	EQ(rdma_listen(l, 0), 0);
	resolve(c, "10.77.0.1", 5000);
	make_qp(c);
	cp.private_data_len = 57;
	FAILS(rdma_connect(c, &cp), EINVAL);
	cp.private_data_len = 4;
	cp.responder_resources = 4;
	cp.initiator_depth = 1;
	cp.retry_count = 6;
	EQ(rdma_connect(c, &cp), 0);
	EQ(rdma_get_cm_event(ch, &ev), 0);
	EQ(ev->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(ev->listen_id == l);
	EQ(ev->param.conn.private_data_len, 56);
	CHECK(!strcmp(ev->param.conn.private_data, "yes"));
	EQ(ev->param.conn.responder_resources, 1);
	EQ(ev->param.conn.initiator_depth, 4);
	EQ(ev->param.conn.retry_count, 6);
	EQ(ev->param.conn.qp_num, c->qp->qp_num);
	srv = ev->id;
	rdma_ack_cm_event(ev);
	EQ(rdma_reject(srv, "sorry", 6), 0);
	EQ(rdma_get_cm_event(ch, &ev), 0);
	EQ(ev->event, RDMA_CM_EVENT_REJECTED);
	EQ(ev->status, 28);
	EQ(ev->param.conn.private_data_len, 148);
	CHECK(!strcmp(ev->param.conn.private_data, "sorry"));
	rdma_ack_cm_event(ev);
	FAILS(rdma_reject(srv, NULL, 0), EINVAL);
	rdma_destroy_ep(c);
	EQ(rdma_destroy_id(srv), 0);
	EQ(rdma_destroy_id(l), 0);
	rdma_destroy_event_channel(ch);
	EQ(live_now().ids, 0);
}

static void no_listener(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_conn_param cp = { .rnr_retry_count = 7 };
	struct rdma_cm_id *id;

	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	resolve(id, "10.77.0.1", 5001);
	make_qp(id);
	EQ(rdma_connect(id, &cp), 0);
	expect(ch, RDMA_CM_EVENT_REJECTED, 8);
	rdma_destroy_ep(id);
	/* A neighbour that answers ARP but runs nothing. */
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	resolve(id, "10.77.0.9", 5001);
	make_qp(id);
	EQ(rdma_connect(id, &cp), 0);
	expect(ch, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	rdma_destroy_ep(id);
	/* Nobody there, and no such network. */
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_resolve_addr(id, NULL, addr("10.77.0.99", 1), 100), 0);
	expect(ch, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	EQ(rdma_resolve_addr(id, NULL, addr("198.51.100.1", 1), 100), 0);
	expect(ch, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
	EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(ch);
}

static void *server(void *arg)
{
	struct rdma_cm_id *l = arg, *id;
	struct ibv_wc wc;
	char buf[64];
	struct ibv_mr *mr;

	EQ(rdma_get_request(l, &id), 0);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	CHECK(mr != NULL);
	EQ(rdma_post_recv(id, NULL, buf, sizeof(buf), mr), 0);
	EQ(rdma_accept(id, NULL), 0);
	EQ(rdma_get_recv_comp(id, &wc), 1);
	EQ(wc.status, IBV_WC_SUCCESS);
	EQ(wc.byte_len, 5);
	EQ(rdma_post_send(id, NULL, buf, 5, mr, IBV_SEND_INLINE), 0);
	EQ(rdma_get_send_comp(id, &wc), 1);
	/* On iWARP the one that comes second is refused. */
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	return NULL;
}

/* Both ends synchronous, as most simple programs are. */
static void sync_ep(void)
{
	struct rdma_addrinfo hint = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP }, *res;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = 16 }, .sq_sig_all = 1 };
	struct ibv_qp_init_attr attr2 = attr;
	struct rdma_cm_id *l, *c;
	char buf[64] = "ping";
	struct ibv_mr *mr;
	struct ibv_wc wc;
	pthread_t t;

	EQ(rdma_getaddrinfo("10.77.0.1", "5002", &hint, &res), 0);
	EQ(rdma_create_ep(&l, res, NULL, &attr), 0);
	rdma_freeaddrinfo(res);
	EQ(rdma_listen(l, 0), 0);
	EQ(pthread_create(&t, NULL, server, l), 0);
	hint.ai_flags = 0;
	EQ(rdma_getaddrinfo("10.77.0.1", "5002", &hint, &res), 0);
	EQ(rdma_create_ep(&c, res, NULL, &attr2), 0);
	rdma_freeaddrinfo(res);
	mr = rdma_reg_msgs(c, buf, sizeof(buf));
	EQ(rdma_post_recv(c, NULL, buf, sizeof(buf), mr), 0);
	EQ(rdma_connect(c, NULL), 0);
	EQ(rdma_post_send(c, NULL, buf, 5, mr, 0), 0);
	EQ(rdma_get_send_comp(c, &wc), 1);
	EQ(rdma_get_recv_comp(c, &wc), 1);
	EQ(wc.status, IBV_WC_SUCCESS);
	CHECK(!strcmp(buf, "ping"));
	rdma_disconnect(c);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(c);
	EQ(pthread_join(t, NULL), 0);
	rdma_destroy_ep(l);
	EQ(live_now().ids, 0);
	EQ(live_now().qps, 0);
}

static void ends(void)
{
	struct pair p;

	/* Destroying a connected id disconnects its peer. */
	pair_open(&p, RDMA_PS_TCP, 5000);
	rdma_destroy_qp(p.cli);
	EQ(ibv_dereg_mr(p.cmr), 0);
	EQ(rdma_destroy_id(p.cli), 0);
	expect(p.sch, RDMA_CM_EVENT_DISCONNECTED, 0);
	EQ(rdma_create_id(p.cch, &p.cli, NULL, RDMA_PS_TCP), 0);
	p.cmr = NULL;
	pair_close(&p);
	/* Destroying the request rejects. */
	pair_request(&p, RDMA_PS_TCP, 5000);
	EQ(rdma_destroy_id(p.srv), 0);
	expect(p.cch, RDMA_CM_EVENT_REJECTED, 28);
	EQ(rdma_create_id(p.sch, &p.srv, NULL, RDMA_PS_TCP), 0);
	pair_close(&p);
	/* The client goes before the accept, which then fails. */
	pair_request(&p, RDMA_PS_TCP, 5000);
	make_qp(p.srv);
	rdma_destroy_qp(p.cli);
	EQ(rdma_destroy_id(p.cli), 0);
	FAILS(rdma_accept(p.srv, NULL), EINVAL);
	EQ(rdma_create_id(p.cch, &p.cli, NULL, RDMA_PS_TCP), 0);
	pair_close(&p);
	/* A closed channel takes its ids along. */
	pair_request(&p, RDMA_PS_TCP, 5000);
	close(p.sch->fd);
	expect(p.cch, RDMA_CM_EVENT_REJECTED, 28);
}

static void migrate(void)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct pair p;

	pair_open(&p, RDMA_PS_TCP, 5000);
	EQ(rdma_disconnect(p.srv), 0);
	/* The event waiting on the old channel moves along. */
	EQ(rdma_migrate_id(p.cli, other), 0);
	expect(other, RDMA_CM_EVENT_DISCONNECTED, 0);
	EQ(rdma_disconnect(p.cli), 0);
	expect(p.sch, RDMA_CM_EVENT_DISCONNECTED, 0);
	EQ(rdma_migrate_id(p.cli, p.cch), 0);
	rdma_destroy_event_channel(other);
	pair_close(&p);
}

static void ports(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *a, *b, *u;
	int yes = 1;

	EQ(rdma_create_id(ch, &a, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_create_id(ch, &b, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_create_id(ch, &u, NULL, RDMA_PS_UDP), 0);
	EQ(rdma_bind_addr(a, addr("10.77.0.1", 7000)), 0);
	FAILS(rdma_bind_addr(b, addr("10.77.0.1", 7000)), EADDRINUSE);
	FAILS(rdma_bind_addr(b, addr("0.0.0.0", 7000)), EADDRNOTAVAIL);
	EQ(rdma_bind_addr(u, addr("10.77.0.1", 7000)), 0);
	FAILS(rdma_bind_addr(b, addr("198.51.100.7", 7001)), EADDRNOTAVAIL);
	EQ(rdma_set_option(b, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof(yes)), 0);
	EQ(rdma_set_option(a, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof(yes)), 0);
	EQ(rdma_bind_addr(b, addr("10.77.0.1", 7000)), 0);
	FAILS(rdma_listen(b, 1), EADDRINUSE);
	EQ(rdma_destroy_id(a), 0);
	EQ(rdma_listen(b, 1), 0);
	EQ(rdma_destroy_id(b), 0);
	EQ(rdma_destroy_id(u), 0);
	/* A wildcard has a port but no device. */
	EQ(rdma_create_id(ch, &a, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_listen(a, 1), 0);
	CHECK(rdma_get_src_port(a) != 0);
	CHECK(a->verbs == NULL);
	EQ(rdma_destroy_id(a), 0);
	EQ(rdma_create_id(ch, &a, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_bind_addr(a, addr("127.0.0.1", 0)), 0);
	CHECK(a->verbs == NULL);
	EQ(rdma_destroy_id(a), 0);
	rdma_destroy_event_channel(ch);
}

#define PEER "device ip=10.77.0.1/24,fd00:77::1/64; peer 10.77.0.9"

const struct test conn_tests[] = {
	{ "channel", "", channel },
	{ "interrupted", "", interrupted },
	{ "full", "", full },
	{ "full-ib", "device type=ib ip=10.77.0.1", full },
	{ "private-data", "", private_data },
	{ "no-listener", PEER, no_listener },
	{ "sync-ep", "", sync_ep },
	{ "sync-ep-ib", "device type=ib ip=10.77.0.1", sync_ep },
	{ "sync-ep-iwarp", "device type=iwarp ip=10.77.0.1", sync_ep },
	{ "sync-ep-old-kernel", "kernel af_ib=0 index=0 max_cmd=18", sync_ep },
	{ "ends", "", ends },
	{ "migrate", "", migrate },
	{ "ports", "", ports },
	{ NULL, NULL, NULL },
};
