// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: rdma_migrate_id never returns
 * env: RDMACM_SYNC_TIMEOUT_MS=300
 * theirs: hangs
 * Moving with an event that nobody gives back ends with ETIMEDOUT where waits are limited.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel(), *b = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);
	struct rdma_cm_event *e;

	MUST(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	e = next(a);
	CALL(rdma_migrate_id(id, b));
	say("on b: %s", id->channel == b ? "yes" : "no");
	CALL(rdma_ack_cm_event(e));
	CALL(rdma_resolve_route(id, 1000));
	take(b);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	rdma_destroy_event_channel(b);
	return done();
}
