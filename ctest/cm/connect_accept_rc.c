// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A connection from beginning to end, every event with every field.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_TCP, "10.77.0.1:7471"), *child;
	struct rdma_cm_id *client = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
	struct rdma_cm_event *request;
	struct rdma_conn_param p = { .responder_resources = 3, .initiator_depth = 2, .retry_count = 5,
					 .rnr_retry_count = 6, .flow_control = 1,
					 .private_data = "hello", .private_data_len = 5 };

	name(listener, "listener");
	name(client, "client");
	name(sc, "context");
	listener->context = sc;
	CALL(rdma_listen(listener, 4));
	CALL(rdma_create_qp(client, NULL, qp_attr()));
	CALL(rdma_connect(client, &p));
	request = next(sc);
	child = request->id;
	say("child on the listener's channel: %s", child->channel == sc ? "yes" : "no");
	show_id(child);
	CALL(ntohs(rdma_get_src_port(child)));
	CALL(rdma_create_qp(child, NULL, qp_attr()));
	p.private_data = "welcome";
	p.private_data_len = 7;
	p.responder_resources = 1;
	p.initiator_depth = 1;
	CALL(rdma_accept(child, &p));
	CALL(rdma_ack_cm_event(request));
	take(cc);
	take(sc);
	CALL(rdma_disconnect(client));
	take(sc);
	take(cc);
	CALL(rdma_disconnect(child));
	rdma_destroy_qp(client);
	rdma_destroy_qp(child);
	CALL(rdma_destroy_id(client));
	CALL(rdma_destroy_id(child));
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
