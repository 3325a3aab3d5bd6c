// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * connect, accept, reject, disconnect, establish and notify on ids in each state before a connection.
 */
#include "trace.h"

static void try(const char *state, struct rdma_cm_id *id)
{
	say("%s", state);
	CALL(rdma_connect(id, param()));
	CALL(rdma_accept(id, param()));
	CALL(rdma_reject(id, "no", 2));
	CALL(rdma_disconnect(id));
	CALL(rdma_establish(id));
	CALL(rdma_notify(id, IBV_EVENT_COMM_EST));
	CALL(rdma_destroy_id(id));
}

int main(void)
{
	struct rdma_event_channel *ch = channel();

	try("fresh", new_id(ch, RDMA_PS_TCP));
	try("bound", bound(ch, RDMA_PS_TCP, "10.77.0.1:7000"));
	try("addressed", addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000"));
	rdma_destroy_event_channel(ch);
	return done();
}
