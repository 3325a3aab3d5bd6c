// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Calls on a listener that only other ids allow.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_TCP, "10.77.0.1:7000");

	CALL(rdma_listen(id, 1));
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7001")));
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	CALL(rdma_resolve_route(id, 1000));
	CALL(rdma_connect(id, param()));
	CALL(rdma_accept(id, param()));
	CALL(rdma_reject(id, NULL, 0));
	CALL(rdma_disconnect(id));
	CALL(rdma_notify(id, IBV_EVENT_COMM_EST));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
