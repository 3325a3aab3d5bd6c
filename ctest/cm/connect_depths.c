// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Depths and resources beyond the device's, and "the largest".
 */
#include "trace.h"

static const unsigned char values[] = { 0, 1, 16, 17, 128, 254, 255 };

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_TCP, "10.77.0.1:7471");

	name(listener, "listener");
	MUST(rdma_listen(listener, 8));
	for (unsigned i = 0; i < sizeof(values); i++) {
		struct rdma_cm_id *client = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
		struct rdma_conn_param *p = param();

		say("value %d", values[i]);
		p->responder_resources = values[i];
		p->initiator_depth = values[i];
		MUST(rdma_create_qp(client, NULL, qp_attr()));
		if (CALL(rdma_connect(client, p)) == 0) {
			struct rdma_cm_event *e = next(sc);
			struct rdma_cm_id *child = e->id;

			MUST(rdma_ack_cm_event(e));
			MUST(rdma_create_qp(child, NULL, qp_attr()));
			if (CALL(rdma_accept(child, p)) == 0)
				take(cc);
			rdma_destroy_qp(child);
			CALL(rdma_destroy_id(child));
		}
		rdma_destroy_qp(client);
		CALL(rdma_destroy_id(client));
	}
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
