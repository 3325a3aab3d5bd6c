// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Moving to a channel whose descriptor is closed, or in the kernel's refusal.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel(), *b = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	fake("fail MIGRATE_ID errno=EXDEV");
	CALL(rdma_migrate_id(id, b));
	say("on a: %s", id->channel == a ? "yes" : "no");
	close(b->fd);
	CALL(rdma_migrate_id(id, b));
	say("on a: %s", id->channel == a ? "yes" : "no");
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
