// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-7
 * fake: verbs open_device errno=EMFILE
 * A device whose first open fails is there the next time.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_context **a;
	int n = -1;

	POINTER(a = rdma_get_devices(&n));
	POINTER(a = rdma_get_devices(&n));
	say("%d", n);
	rdma_free_devices(a);
	POINTER(ch = rdma_create_event_channel());
	if (!ch)
		return done();
	id = new_id(ch, RDMA_PS_TCP);
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
