// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device name=one ip=10.77.0.1/24
 * fake: device name=two ip=10.78.0.1/24
 * A device goes and comes back as a new instance while the process runs.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct ibv_context **a;
	int n = -1;

	CALL(RDMAFAKE(rdmafake_device_remove)("one"));
	take(ch);
	CALL(rdma_destroy_id(id));
	POINTER(a = rdma_get_devices(&n));
	say("%d devices", n);
	rdma_free_devices(a);
	CALL(RDMAFAKE(rdmafake_device_return)("one"));
	POINTER(a = rdma_get_devices(&n));
	say("%d devices", n);
	rdma_free_devices(a);
	id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	say("%s", ibv_get_device_name(id->verbs->device));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
