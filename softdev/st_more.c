/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Datagram ids, groups, other families, several devices. */
#include "st.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>

static void datagram(void)
{
	struct rdma_conn_param cp = { .private_data = "hi", .private_data_len = 3 };
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *l, *s, *c;
	struct rdma_cm_event *ev;
	char from[64] = "datagram", to[128] = "";
	struct ibv_mr *m1, *m2;
	struct ibv_wc wc;
	struct ibv_ah *ah;

	EQ(rdma_create_id(ch, &l, NULL, RDMA_PS_UDP), 0);
	EQ(rdma_create_id(ch, &c, NULL, RDMA_PS_UDP), 0);
	EQ(rdma_bind_addr(l, addr("10.77.0.1", 6000)), 0);
	EQ(rdma_listen(l, 1), 0);
	resolve(c, "10.77.0.1", 6000);
	make_qp(c);
	EQ(rdma_connect(c, &cp), 0);
	EQ(rdma_get_cm_event(ch, &ev), 0);
	EQ(ev->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	EQ(ev->param.ud.private_data_len, 180);
	CHECK(!strcmp(ev->param.ud.private_data, "hi"));
	s = ev->id;
	rdma_ack_cm_event(ev);
	make_qp(s);
	cp.qp_num = s->qp->qp_num;
	EQ(rdma_accept(s, &cp), 0);
	EQ(rdma_get_cm_event(ch, &ev), 0);
	EQ(ev->event, RDMA_CM_EVENT_ESTABLISHED);
	EQ(ev->param.ud.qp_num, s->qp->qp_num);
	EQ(ev->param.ud.qkey, RDMA_UDP_QKEY);
	CHECK((ah = ibv_create_ah(c->pd, &ev->param.ud.ah_attr)) != NULL);
	m1 = rdma_reg_msgs(c, from, sizeof(from));
	m2 = rdma_reg_msgs(s, to, sizeof(to));
	EQ(rdma_post_recv(s, NULL, to, sizeof(to), m2), 0);
	EQ(rdma_post_ud_send(c, NULL, from, 9, m1, IBV_SEND_SIGNALED, ah, ev->param.ud.qp_num), 0);
	rdma_ack_cm_event(ev);
	EQ(rdma_get_send_comp(c, &wc), 1);
	EQ(wc.status, IBV_WC_SUCCESS);
	EQ(rdma_get_recv_comp(s, &wc), 1);
	EQ(wc.byte_len, 49);
	EQ(wc.src_qp, c->qp->qp_num);
	CHECK(!strcmp(to + 40, "datagram"));
	ibv_destroy_ah(ah);
	rdma_dereg_mr(m1);
	rdma_dereg_mr(m2);
	rdma_destroy_ep(c);
	rdma_destroy_ep(s);
	/* Refused, and nobody there. */
	EQ(rdma_create_id(ch, &c, NULL, RDMA_PS_UDP), 0);
	resolve(c, "10.77.0.1", 6000);
	make_qp(c);
	EQ(rdma_connect(c, &cp), 0);
	s = expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	EQ(rdma_reject(s, NULL, 0), 0);
	expect(ch, RDMA_CM_EVENT_UNREACHABLE, 2);
	rdma_destroy_ep(c);
	EQ(rdma_destroy_id(s), 0);
	EQ(rdma_destroy_id(l), 0);
	EQ(rdma_create_id(ch, &c, NULL, RDMA_PS_UDP), 0);
	resolve(c, "10.77.0.1", 6000);
	make_qp(c);
	EQ(rdma_connect(c, &cp), 0);
	expect(ch, RDMA_CM_EVENT_UNREACHABLE, 1);
	rdma_destroy_ep(c);
	rdma_destroy_event_channel(ch);
	EQ(live_now().ids + live_now().ahs, 0);
}

static struct sockaddr *ib_addr(const char *gid, uint16_t port)
{
	static struct sockaddr_ib a;

	memset(&a, 0, sizeof(a));
	a.sib_family = AF_IB;
	a.sib_pkey = 0xffff;
	CHECK(inet_pton(AF_INET6, gid, a.sib_addr.sib_raw) == 1);
	a.sib_sid = htobe64((uint64_t)RDMA_PS_TCP << 16 | port);
	a.sib_sid_mask = htobe64(0xffffffffffffULL);
	return (struct sockaddr *)&a;
}

/* The native family of InfiniBand: no IP header in the private data. */
static void af_ib(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_conn_param cp = { .private_data = "native", .private_data_len = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *l, *c, *s;
	struct rdma_cm_event *ev;

	EQ(rdma_create_id(ch, &l, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_bind_addr(l, ib_addr("::", 5000)), 0);
	EQ(rdma_listen(l, 1), 0);
	EQ(rdma_create_id(ch, &c, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_resolve_addr(c, NULL, ib_addr("fe80::7", 5000), 100), 0);
	expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	EQ(rdma_resolve_route(c, 100), 0);
	expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	EQ(c->route.num_paths, 1);
	make_qp(c);
	EQ(rdma_connect(c, &cp), 0);
	EQ(rdma_get_cm_event(ch, &ev), 0);
	EQ(ev->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	EQ(ev->param.conn.private_data_len, 92);
	s = ev->id;
	EQ(s->route.addr.src_addr.sa_family, AF_IB);
	rdma_ack_cm_event(ev);
	EQ(rdma_destroy_id(s), 0);
	expect(ch, RDMA_CM_EVENT_REJECTED, 28);
	rdma_destroy_ep(c);
	EQ(rdma_destroy_id(l), 0);
	rdma_destroy_event_channel(ch);
}

/* Loop-back and IPv6 reach a wildcard listener. */
static void wildcard(void)
{
	static const char *const ip[] = { "127.0.0.1", "::1", "10.77.0.1", "fd00:77::1" };
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_conn_param cp = { .rnr_retry_count = 7 };
	struct rdma_cm_id *l, *c, *s;

	EQ(rdma_create_id(ch, &l, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_bind_addr(l, addr("::", 5000)), 0);
	EQ(rdma_listen(l, 1), 0);
	for (int i = 0; i < 4; i++) {
		EQ(rdma_create_id(ch, &c, NULL, RDMA_PS_TCP), 0);
		resolve(c, ip[i], 5000);
		make_qp(c);
		EQ(rdma_connect(c, &cp), 0);
		s = expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		CHECK(s->verbs == c->verbs);
		make_qp(s);
		EQ(rdma_accept(s, &cp), 0);
		expect(ch, RDMA_CM_EVENT_ESTABLISHED, 0);
		expect(ch, RDMA_CM_EVENT_ESTABLISHED, 0);
		rdma_destroy_ep(c);
		expect(ch, RDMA_CM_EVENT_DISCONNECTED, 0);
		rdma_destroy_ep(s);
	}
	EQ(rdma_destroy_id(l), 0);
	rdma_destroy_event_channel(ch);
}

static void group(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id[2];
	char buf[2][128] = { "all of you", "" };
	struct ibv_mr *mr[2];
	struct ibv_ah *ah = NULL;
	struct ibv_wc wc;
	uint32_t qpn = 0;

	for (int i = 0; i < 2; i++) {
		EQ(rdma_create_id(ch, &id[i], NULL, RDMA_PS_UDP), 0);
		EQ(rdma_bind_addr(id[i], addr("10.77.0.1", 0)), 0);
		make_qp(id[i]);
		EQ(rdma_join_multicast(id[i], addr("239.1.2.3", 0), &mr[i]), 0);
		EQ(rdma_get_cm_event(ch, &ev), 0);
		EQ(ev->event, RDMA_CM_EVENT_MULTICAST_JOIN);
		CHECK(ev->param.ud.private_data == &mr[i]);
		qpn = ev->param.ud.qp_num;
		EQ(qpn, 0xffffff);
		if (!i)
			CHECK((ah = ibv_create_ah(id[0]->pd, &ev->param.ud.ah_attr)) != NULL);
		rdma_ack_cm_event(ev);
		CHECK((mr[i] = rdma_reg_msgs(id[i], buf[i], 128)) != NULL);
	}
	EQ(live_now().multicasts, 2);
	EQ(rdma_post_recv(id[1], NULL, buf[1], 128, mr[1]), 0);
	EQ(rdma_post_ud_send(id[0], NULL, buf[0], 11, mr[0], IBV_SEND_SIGNALED, ah, qpn), 0);
	EQ(rdma_get_recv_comp(id[1], &wc), 1);
	CHECK(!strcmp(buf[1] + 40, "all of you"));
	EQ(rdma_leave_multicast(id[0], addr("239.1.2.3", 0)), 0);
	EQ(rdma_leave_multicast(id[1], addr("239.1.2.3", 0)), 0);
	EQ(live_now().multicasts, 0);
	script("kernel mcast_error=EHOSTUNREACH");
	EQ(rdma_join_multicast(id[0], addr("239.1.2.3", 0), NULL), 0);
	expect(ch, RDMA_CM_EVENT_MULTICAST_ERROR, -EHOSTUNREACH);
	EQ(rdma_leave_multicast(id[0], addr("239.1.2.3", 0)), 0);
	ibv_destroy_ah(ah);
	for (int i = 0; i < 2; i++) {
		rdma_dereg_mr(mr[i]);
		rdma_destroy_ep(id[i]);
	}
	rdma_destroy_event_channel(ch);
}

static void two_devices(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;
	struct ibv_context **list;
	int n;

	CHECK((list = rdma_get_devices(&n)) != NULL);
	EQ(n, 2);
	EQ(list[1]->device->transport_type, IBV_TRANSPORT_IWARP);
	rdma_free_devices(list);
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_resolve_addr(id, NULL, addr("10.78.0.1", 1), 100), 0);
	expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK(!strcmp(ibv_get_device_name(id->verbs->device), "second"));
	EQ(rdma_destroy_id(id), 0);
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_bind_addr(id, addr("10.77.0.1", 0)), 0);
	CHECK(!strcmp(ibv_get_device_name(id->verbs->device), "first"));
	EQ(id->port_num, 1);
	EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(ch);
}

const struct test more_tests[] = {
	{ "datagram", "", datagram },
	{ "datagram-ib", "device type=ib ip=10.77.0.1", datagram },
	{ "af-ib", "device type=ib gid=fe80::7", af_ib },
	{ "wildcard", "", wildcard },
	{ "group", "", group },
	{ "group-ib", "device type=ib ip=10.77.0.1", group },
	{ "two-devices", "device name=first ip=10.77.0.1/24; device name=second type=iwarp ip=10.78.0.1/24",
	  two_devices },
	{ NULL, NULL, NULL },
};
