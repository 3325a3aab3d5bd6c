// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Datagram ids and groups. */
#include "observations.h"

static void answer(unsigned request, unsigned length, bool accept)
{
	struct rdma_event_channel *passive = channel(), *active = channel();
	struct rdma_cm_id *listener = bound(passive, RDMA_PS_UDP, "10.77.0.1:7320"), *client, *child;
	struct rdma_conn_param asked = *param();
	struct ibv_qp_init_attr attr = *qp_attr();
	struct rdma_cm_event *event;
	char bytes[300], what[80];

	memset(bytes, 9, sizeof bytes);
	attr.qp_type = IBV_QPT_UD;
	MUST(rdma_listen(listener, 4));
	client = routed(active, RDMA_PS_UDP, "10.77.0.1:7320");
	MUST(rdma_create_qp(client, NULL, &attr));
	asked.private_data = bytes;
	asked.private_data_len = (uint8_t)request;
	snprintf(what, sizeof what, "datagrams: request of %u, %s of %u: request", request, accept ? "answer" : "reject", length);
	errno = 0;
	if (rdma_connect(client, &asked)) {
		observe(what, "%s", errno_name(errno));
		goto out;
	}
	event = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	child = event->id;
	observe(what, "arrives with %d", event->param.ud.private_data_len);
	MUST(rdma_ack_cm_event(event));
	snprintf(what, sizeof what, "datagrams: request of %u, %s of %u: answer", request, accept ? "answer" : "reject", length);
	attr = *qp_attr();
	attr.qp_type = IBV_QPT_UD;
	if (accept)
		MUST(rdma_create_qp(child, NULL, &attr));
	asked.private_data_len = (uint8_t)length;
	if (accept)
		asked.qp_num = child->qp->qp_num;
	errno = 0;
	if (accept ? rdma_accept(child, &asked) : rdma_reject(child, bytes, (uint8_t)length)) {
		observe(what, "%s", errno_name(errno));
	} else {
		event = any_event(active);
		observe(what, "%s with %d, status %d, queue pair %s, key %x, global %d", rdma_event_str(event->event),
			event->param.ud.private_data_len, event->status, !accept ? "-" : event->param.ud.qp_num == child->qp->qp_num ? "the child's" : "another",
			accept ? event->param.ud.qkey : 0, accept ? event->param.ud.ah_attr.is_global : 0);
		MUST(rdma_ack_cm_event(event));
	}
	snprintf(what, sizeof what, "datagrams: request of %u, %s of %u: events of the server", request, accept ? "answer" : "reject", length);
	observe_events(what, passive);
	if (child->qp)
		rdma_destroy_qp(child);
	MUST(rdma_destroy_id(child));
out:
	rdma_destroy_qp(client);
	MUST(rdma_destroy_id(client));
	MUST(rdma_destroy_id(listener));
	rdma_destroy_event_channel(passive), rdma_destroy_event_channel(active);
}

static void refused(void)
{
	struct rdma_event_channel *active = channel();
	struct rdma_cm_id *client = routed(active, RDMA_PS_UDP, "10.77.0.1:7321");
	struct ibv_qp_init_attr attr = *qp_attr();

	attr.qp_type = IBV_QPT_UD;
	MUST(rdma_create_qp(client, NULL, &attr));
	CALLED("datagrams: nobody listens", rdma_connect(client, param()));
	observe_events("datagrams: nobody listens: events", active);
	CALLED("datagrams: disconnect", rdma_disconnect(client));
	rdma_destroy_qp(client);
	MUST(rdma_destroy_id(client));
	rdma_destroy_event_channel(active);
}

void observe_datagrams(void)
{
	answer(0, 0, true);
	answer(180, 136, true);
	answer(181, 0, true);
	answer(0, 137, true);
	answer(0, 136, false);
	refused();
}

static void join(const char *what, struct rdma_cm_id *id, struct rdma_event_channel *events, const char *group)
{
	struct rdma_cm_event *event;
	char text[80];

	errno = 0;
	if (rdma_join_multicast(id, addr(group), NULL)) {
		observe(what, "%s", errno_name(errno));
		return;
	}
	event = any_event(events);
	observe(what, "%s %d, queue pair %x, key %x, global %d", rdma_event_str(event->event), event->status,
		event->param.ud.qp_num, event->param.ud.qkey, event->param.ud.ah_attr.is_global);
	MUST(rdma_ack_cm_event(event));
	snprintf(text, sizeof text, "%s: leave", what);
	CALLED(text, rdma_leave_multicast(id, addr(group)));
	snprintf(text, sizeof text, "%s: leave again", what);
	CALLED(text, rdma_leave_multicast(id, addr(group)));
}

void observe_multicast(void)
{
	struct rdma_event_channel *events = channel();
	struct rdma_cm_id *id = bound(events, RDMA_PS_UDP, "10.77.0.1");
	struct ibv_qp_init_attr attr = *qp_attr();

	CALLED("group: leave what was never joined", rdma_leave_multicast(id, addr("239.1.1.9")));
	attr.qp_type = IBV_QPT_UD;
	MUST(rdma_create_qp(id, NULL, &attr));
	join("group: IPv4", id, events, "239.1.1.1");
	join("group: all hosts", id, events, "224.0.0.1");
	join("group: IPv6", id, events, "[ff0e::7]");
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
	id = new_id(events, RDMA_PS_UDP);
	CALLED("group: an id without a device", rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(events);
}
