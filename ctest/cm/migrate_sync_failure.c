// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A refused move to no channel: the errno survives, nothing leaks.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	fake("fail MIGRATE_ID errno=EXDEV");
	CALL(rdma_migrate_id(id, NULL));
	say("on a: %s", id->channel == a ? "yes" : "no");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(a);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
