// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The connection manager: what its calls refuse, which events come, and what they carry. */
#include "observations.h"

static struct rdma_event_channel *events;

static void end(struct rdma_cm_id *id) { MUST(rdma_destroy_id(id)); }

static void bindings(void)
{
	struct rdma_cm_id *id = new_id(events, RDMA_PS_TCP), *other = new_id(events, RDMA_PS_TCP);

	CALLED("bind: an address of the device", rdma_bind_addr(id, addr("10.77.0.1:7300")));
	observe("bind: port", "%d", ntohs(rdma_get_src_port(id)));
	observe("bind: a device", "%d", id->verbs != NULL);
	CALLED("bind: again", rdma_bind_addr(id, addr("10.77.0.1:7301")));
	CALLED("bind: a port in use", rdma_bind_addr(other, addr("10.77.0.1:7300")));
	CALLED("bind: an address of nobody", rdma_bind_addr(other, addr("203.0.113.1:7302")));
	CALLED("bind: the wildcard at a port in use", rdma_bind_addr(other, addr("0.0.0.0:7300")));
	CALLED("bind: any port", rdma_bind_addr(other, addr("10.77.0.1")));
	observe("bind: any port: has one", "%d", rdma_get_src_port(other) != 0);
	end(other);
	other = new_id(events, RDMA_PS_UDP);
	CALLED("bind: the port in another port space", rdma_bind_addr(other, addr("10.77.0.1:7300")));
	end(other);
	other = new_id(events, RDMA_PS_TCP);
	CALLED("bind: IPv6", rdma_bind_addr(other, addr("[fd00:77::1]:7303")));
	end(other);
	other = new_id(events, RDMA_PS_TCP);
	CALLED("bind: IPv6 at the port of IPv4", rdma_bind_addr(other, addr("[fd00:77::1]:7300")));
	end(other);
	other = new_id(events, RDMA_PS_TCP);
	CALLED("bind: wildcard", rdma_bind_addr(other, addr("0.0.0.0:7304")));
	observe("bind: wildcard: a device", "%d", other->verbs != NULL);
	end(other);
	end(id);
	id = new_id(events, RDMA_PS_TCP);
	CALLED("bind: a port that was given up", rdma_bind_addr(id, addr("10.77.0.1:7300")));
	end(id);
}

static void too_early(void)
{
	struct rdma_cm_id *id = new_id(events, RDMA_PS_TCP);

	CALLED("new id: listen", rdma_listen(id, 1));
	end(id);
	id = new_id(events, RDMA_PS_TCP);
	CALLED("new id: route", rdma_resolve_route(id, 100));
	CALLED("new id: disconnect", rdma_disconnect(id));
	CALLED("new id: reject", rdma_reject(id, NULL, 0));
	CALLED("new id: notify", rdma_notify(id, IBV_EVENT_COMM_EST));
	end(id);
	id = bound(events, RDMA_PS_TCP, "10.77.0.1:7305");
	CALLED("bound id: route", rdma_resolve_route(id, 100));
	CALLED("bound id: accept", rdma_accept(id, param()));
	CALLED("bound id: listen", rdma_listen(id, 1));
	CALLED("listener: listen again", rdma_listen(id, 1));
	CALLED("listener: resolve", rdma_resolve_addr(id, NULL, addr("10.77.0.1:7306"), 100));
	CALLED("listener: bind", rdma_bind_addr(id, addr("10.77.0.1:7307")));
	end(id);
	id = addressed(events, RDMA_PS_TCP, "10.77.0.1:7309");
	CALLED("address known: resolve again", rdma_resolve_addr(id, NULL, addr("10.77.0.1:7309"), 100));
	CALLED("address known: listen", rdma_listen(id, 1));
	CALLED("address known: route", rdma_resolve_route(id, 1000));
	observe_events("address known: route: events", events);
	CALLED("route known: route again", rdma_resolve_route(id, 100));
	end(id);
}

static void options(void)
{
	struct rdma_cm_id *id = new_id(events, RDMA_PS_TCP);
	uint8_t tos = 96, timeout = 14, wrong = 40;
	int yes = 1;

	CALLED("option: type of service", rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	CALLED("option: type of service of 4 bytes", rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &yes, 4));
	CALLED("option: reuse", rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, 4));
	CALLED("option: one family", rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &yes, 4));
	CALLED("option: ack timeout", rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1));
	CALLED("option: ack timeout of 40", rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &wrong, 1));
	CALLED("option: unknown", rdma_set_option(id, RDMA_OPTION_ID, 77, &yes, 4));
	CALLED("option: unknown level", rdma_set_option(id, 9, 0, &yes, 4));
	CALLED("bound: one family", (rdma_bind_addr(id, addr("10.77.0.1:7310")),
				     rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &yes, 4)));
	CALLED("bound: reuse", rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, 4));
	end(id);
}

static void nobody(void)
{
	struct rdma_cm_id *id = new_id(events, RDMA_PS_TCP);

	CALLED("resolve: no route", rdma_resolve_addr(id, NULL, addr("203.0.113.1:7311"), 500));
	observe_events("resolve: no route: events", events);
	end(id);
	id = new_id(events, RDMA_PS_TCP);
	CALLED("resolve: own address of nobody", rdma_resolve_addr(id, addr("203.0.113.2"), addr("10.77.0.1:7311"), 500));
	observe_events("resolve: own address of nobody: events", events);
	end(id);
	id = routed(events, RDMA_PS_TCP, "10.77.0.1:7312");
	MUST(rdma_create_qp(id, NULL, qp_attr()));
	CALLED("connect: nobody listens", rdma_connect(id, param()));
	observe_events("connect: nobody listens: events", events);
	CALLED("connect: after a reject", rdma_connect(id, param()));
	observe_events("connect: after a reject: events", events);
	rdma_destroy_qp(id);
	end(id);
}

void observe_ids(void)
{
	events = channel();
	bindings();
	too_early();
	options();
	nobody();
	CALLED("id of an unknown port space", ({ struct rdma_cm_id *id; rdma_create_id(events, &id, NULL, 0x0999); }));
	rdma_destroy_event_channel(events);
}

/* A request with so much private data; what the server gets of it, and its answer. */
static void private_data(unsigned request, unsigned answer, bool accept)
{
	struct rdma_event_channel *passive = channel(), *active = channel();
	struct rdma_cm_id *listener = bound(passive, RDMA_PS_TCP, "10.77.0.1:7313"), *client;
	struct rdma_conn_param asked = *param();
	struct rdma_cm_event *event;
	char bytes[300], what[80];

	memset(bytes, 7, sizeof bytes);
	MUST(rdma_listen(listener, 4));
	client = routed(active, RDMA_PS_TCP, "10.77.0.1:7313");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	asked.private_data = bytes;
	asked.private_data_len = (uint8_t)request;
	snprintf(what, sizeof what, "request of %u, %s of %u: request", request, accept ? "answer" : "reject", answer);
	errno = 0;
	if (rdma_connect(client, &asked)) {
		observe(what, "%s", errno_name(errno));
	} else {
		event = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
		struct rdma_cm_id *child = event->id;

		observe(what, "arrives with %d, retries %d, RNR retries %d, flow control %d, shared %d",
			event->param.conn.private_data_len, event->param.conn.retry_count, event->param.conn.rnr_retry_count,
			event->param.conn.flow_control, event->param.conn.srq);
		MUST(rdma_ack_cm_event(event));
		asked.private_data_len = (uint8_t)answer;
		if (accept)
			MUST(rdma_create_qp(child, NULL, qp_attr()));
		snprintf(what, sizeof what, "request of %u, %s of %u: answer", request, accept ? "answer" : "reject", answer);
		errno = 0;
		if (accept ? rdma_accept(child, &asked) : rdma_reject(child, bytes, (uint8_t)answer)) {
			observe(what, "%s", errno_name(errno));
		} else {
			event = expect(active, accept ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_REJECTED);
			observe(what, "arrives with %d, status %d", event->param.conn.private_data_len, event->status);
			MUST(rdma_ack_cm_event(event));
		}
		if (child->qp)
			rdma_destroy_qp(child);
		end(child);
	}
	rdma_destroy_qp(client);
	end(client), end(listener);
	rdma_destroy_event_channel(passive), rdma_destroy_event_channel(active);
}

static void life(void)
{
	struct pair p;

	pair_connect(&p);
	observe("connected: ports of the client", "%d %d", rdma_get_src_port(p.client) != 0, ntohs(rdma_get_dst_port(p.client)));
	observe("connected: ports of the child", "%d %d", ntohs(rdma_get_src_port(p.child)),
		rdma_get_dst_port(p.child) == rdma_get_src_port(p.client));
	CALLED("connected: connect again", rdma_connect(p.client, param()));
	CALLED("connected: accept again", rdma_accept(p.child, param()));
	CALLED("connected: reject", rdma_reject(p.child, NULL, 0));
	CALLED("connected: route", rdma_resolve_route(p.client, 100));
	CALLED("connected: notify", rdma_notify(p.child, IBV_EVENT_COMM_EST));
	CALLED("disconnect: client", rdma_disconnect(p.client));
	observe_events("disconnect: events of the server", p.passive);
	CALLED("disconnect: server", rdma_disconnect(p.child));
	observe_events("disconnect: events of the client", p.active);
	CALLED("disconnect: again", rdma_disconnect(p.client));
	CALLED("disconnected: connect", rdma_connect(p.client, param()));
	pair_destroy(&p);
	pair_connect(&p);
	/* Last of this connection: soft-RoCE's next message then goes by a path that there is not. */
	CALLED("connected: migrate path", rdma_notify(p.child, IBV_EVENT_PATH_MIG));
	pair_destroy(&p);
	pair_connect(&p);
	rdma_destroy_qp(p.client);
	MUST(rdma_destroy_id(p.client));
	p.client = NULL;
	observe_events("the client's id destroyed: events of the server", p.passive);
	pair_destroy(&p);
	pair_request(&p, RDMA_PS_TCP);
	rdma_destroy_qp(p.client);
	MUST(rdma_destroy_id(p.client));
	p.client = NULL;
	MUST(rdma_ack_cm_event(p.request));
	p.request = NULL;
	observe_events("the client's id destroyed while asking: events of the server", p.passive);
	CALLED("the client's id destroyed while asking: queue pair", rdma_create_qp(p.child, NULL, qp_attr()));
	CALLED("the client's id destroyed while asking: accept", rdma_accept(p.child, param()));
	observe_events("the client's id destroyed while asking: after accept", p.passive);
	pair_destroy(&p);
	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_ack_cm_event(p.request));
	p.request = NULL;
	end(p.child);
	p.child = NULL;
	observe_events("a request's id destroyed: events of the client", p.active);
	pair_destroy(&p);
	pair_request(&p, RDMA_PS_TCP);
	MUST(rdma_ack_cm_event(p.request));
	p.request = NULL;
	end(p.listener);
	p.listener = NULL;
	observe_events("listener destroyed over a request: events of the client", p.active);
	CALLED("listener destroyed over a request: queue pair", rdma_create_qp(p.child, NULL, qp_attr()));
	CALLED("listener destroyed over a request: accept", rdma_accept(p.child, param()));
	observe_events("listener destroyed over a request: after accept", p.active);
	pair_destroy(&p);
}

void observe_connections(void)
{
	private_data(0, 0, true);
	private_data(1, 1, true);
	private_data(56, 196, true);
	private_data(57, 0, true);
	private_data(56, 197, true);
	private_data(56, 148, false);
	private_data(56, 149, false);
	life();
}

static void depths(int asked_responder, int asked_initiator, int responder, int initiator)
{
	struct rdma_event_channel *passive = channel(), *active = channel();
	struct rdma_cm_id *listener = bound(passive, RDMA_PS_TCP, "10.77.0.1:7314"), *client, *child;
	struct rdma_conn_param asked = *param();
	struct ibv_qp_init_attr init;
	struct rdma_cm_event *event;
	struct ibv_qp_attr attr;
	char what[80];
	int n;

	n = snprintf(what, sizeof what, "depths %d %d, answer %d %d: ", asked_responder, asked_initiator, responder, initiator);
	MUST(rdma_listen(listener, 4));
	client = routed(active, RDMA_PS_TCP, "10.77.0.1:7314");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	asked.responder_resources = (uint8_t)asked_responder;
	asked.initiator_depth = (uint8_t)asked_initiator;
	MUST(rdma_connect(client, &asked));
	event = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	child = event->id;
	strcpy(what + n, "request");
	observe(what, "%d %d", event->param.conn.responder_resources, event->param.conn.initiator_depth);
	MUST(rdma_ack_cm_event(event));
	MUST(rdma_create_qp(child, NULL, qp_attr()));
	asked.responder_resources = (uint8_t)responder;
	asked.initiator_depth = (uint8_t)initiator;
	strcpy(what + n, "accept");
	errno = 0;
	if (rdma_accept(child, &asked)) {
		observe(what, "%s", errno_name(errno));
	} else {
		event = expect(active, RDMA_CM_EVENT_ESTABLISHED);
		observe(what, "%d %d", event->param.conn.responder_resources, event->param.conn.initiator_depth);
		MUST(rdma_ack_cm_event(event));
		expect_and_ack(passive, RDMA_CM_EVENT_ESTABLISHED);
		MUST(ibv_query_qp(client->qp, &attr, IBV_QP_STATE, &init));
		strcpy(what + n, "the client's queue pair");
		observe(what, "responds to %d, asks %d", attr.max_dest_rd_atomic, attr.max_rd_atomic);
		MUST(ibv_query_qp(child->qp, &attr, IBV_QP_STATE, &init));
		strcpy(what + n, "the server's queue pair");
		observe(what, "responds to %d, asks %d", attr.max_dest_rd_atomic, attr.max_rd_atomic);
	}
	rdma_destroy_qp(client), rdma_destroy_qp(child);
	end(client), end(child), end(listener);
	rdma_destroy_event_channel(passive), rdma_destroy_event_channel(active);
}

void observe_depths(void)
{
	depths(0, 0, 0, 0);
	depths(1, 1, 1, 1);
	depths(4, 2, 2, 4);
	depths(4, 2, 1, 1);
	depths(2, 4, 8, 2);
}
