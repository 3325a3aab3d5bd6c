// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device name=one ip=10.77.0.1/24
 * fake: device name=two ip=10.78.0.1/24
 * fake: verbs open_device dev=one errno=EACCES always
 * One of two devices cannot be opened: the other works.
 */
#include "trace.h"

int main(void)
{
	struct ibv_context **a;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int n = -1;

	POINTER(a = rdma_get_devices(&n));
	say("%d devices, %s", n, a ? ibv_get_device_name(a[0]->device) : "");
	rdma_free_devices(a);
	POINTER(ch = rdma_create_event_channel());
	id = new_id(ch, RDMA_PS_TCP);
	CALL(rdma_resolve_addr(id, NULL, addr("10.78.0.1:7000"), 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
