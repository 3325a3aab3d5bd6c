// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The ready-made ids of trace.h. */
#include "trace.h"

static int nids;

struct rdma_event_channel *channel(void)
{
	struct rdma_event_channel *made = rdma_create_event_channel();

	if (!made) {
		printf("rdma_create_event_channel: NULL %s\n", error_text(errno));
		exit(3);
	}
	return made;
}

struct rdma_cm_id *new_id(struct rdma_event_channel *on, enum rdma_port_space ps)
{
	struct rdma_cm_id *id = NULL;
	char text[24];

	MUST(rdma_create_id(on, &id, NULL, ps));
	snprintf(text, sizeof(text), "id%d", ++nids);
	name(id, text);
	return id;
}

struct rdma_cm_id *bound(struct rdma_event_channel *on, enum rdma_port_space ps, const char *to)
{
	struct rdma_cm_id *id = new_id(on, ps);

	MUST(rdma_bind_addr(id, addr(to)));
	return id;
}

struct rdma_cm_id *addressed(struct rdma_event_channel *on, enum rdma_port_space ps, const char *to)
{
	struct rdma_cm_id *id = new_id(on, ps);

	MUST(rdma_resolve_addr(id, NULL, addr(to), 2000));
	if (on)
		expect_and_ack(on, RDMA_CM_EVENT_ADDR_RESOLVED);
	return id;
}

struct rdma_cm_id *routed(struct rdma_event_channel *on, enum rdma_port_space ps, const char *to)
{
	struct rdma_cm_id *id = addressed(on, ps, to);

	MUST(rdma_resolve_route(id, 2000));
	if (on)
		expect_and_ack(on, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

struct ibv_qp_init_attr *qp_attr(void)
{
	static __thread struct ibv_qp_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
	attr.cap.max_send_sge = attr.cap.max_recv_sge = 2;
	attr.cap.max_inline_data = 16;
	attr.qp_type = IBV_QPT_RC;
	attr.sq_sig_all = 1;
	return &attr;
}

struct rdma_conn_param *param(void)
{
	static __thread struct rdma_conn_param p;

	memset(&p, 0, sizeof(p));
	p.responder_resources = p.initiator_depth = 1;
	p.retry_count = p.rnr_retry_count = 7;
	return &p;
}

void pair_request(struct pair *p, enum rdma_port_space ps)
{
	struct ibv_qp_init_attr *attr = qp_attr();

	memset(p, 0, sizeof(*p));
	p->passive = channel();
	p->active = channel();
	p->listener = bound(p->passive, ps, "10.77.0.1:7471");
	MUST(rdma_listen(p->listener, 8));
	p->client = routed(p->active, ps, "10.77.0.1:7471");
	if (p->client->qp_type == IBV_QPT_UD)
		attr->qp_type = IBV_QPT_UD;
	MUST(rdma_create_qp(p->client, NULL, attr));
	MUST(rdma_connect(p->client, param()));
	p->request = expect(p->passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	p->child = p->request->id;
	name(p->listener, "listener");
	name(p->client, "client");
	name(p->child, "child");
	name(p->passive, "passive");
	name(p->active, "active");
}

void pair_connect(struct pair *p)
{
	pair_request(p, RDMA_PS_TCP);
	MUST(rdma_ack_cm_event(p->request));
	p->request = NULL;
	MUST(rdma_create_qp(p->child, NULL, qp_attr()));
	MUST(rdma_accept(p->child, param()));
	expect_and_ack(p->active, RDMA_CM_EVENT_ESTABLISHED);
	expect_and_ack(p->passive, RDMA_CM_EVENT_ESTABLISHED);
}

static void end_id(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
}

void destroy_child(struct rdma_cm_event *request)
{
	struct rdma_cm_id *child = request->id;

	MUST(rdma_ack_cm_event(request));
	end_id(child);
}

void pair_destroy(struct pair *p)
{
	if (p->request)
		MUST(rdma_ack_cm_event(p->request));
	end_id(p->client);
	end_id(p->child);
	end_id(p->listener);
	rdma_destroy_event_channel(p->active);
	rdma_destroy_event_channel(p->passive);
}
