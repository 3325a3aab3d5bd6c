// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: the device is not found, and the program goes on without one
 * fake: device ip=10.77.0.1/24 guid=0 index=3
 * A device with GUID 0 is found by its index.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	CALL(rdma_resolve_route(id, 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
