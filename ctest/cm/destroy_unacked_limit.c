// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: rdma_destroy_id never returns
 * env: RDMACM_SYNC_TIMEOUT_MS=300
 * theirs: hangs
 * Destroying an id from the thread that still holds its event ends with ETIMEDOUT where waits are
 * limited; the event can be given back later.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);
	struct rdma_cm_event *e;

	MUST(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	e = next(a);
	CALL(rdma_destroy_id(id));
	CALL(rdma_ack_cm_event(e));
	rdma_destroy_event_channel(a);
	return done();
}
