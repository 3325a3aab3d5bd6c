// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-7
 * fake: device name=one ip=10.77.0.1/24
 * The last device goes: it is not listed any more; when it comes back it works.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_context **a;
	struct rdmafake_live live;
	int n = -1;

	CALL(RDMAFAKE(rdmafake_device_remove)("one"));
	take(ch);
	CALL(rdma_destroy_id(id));
	POINTER(a = rdma_get_devices(&n));
	say("%d devices", n);
	RDMAFAKE(rdmafake_live)(&live);
	say("contexts %u pds %u", live.contexts, live.pds);
	CALL(RDMAFAKE(rdmafake_device_return)("one"));
	POINTER(a = rdma_get_devices(&n));
	say("%d devices", n);
	rdma_free_devices(a);
	id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	CALL(rdma_resolve_route(id, 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
