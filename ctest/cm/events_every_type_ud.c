// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every event type with its data on a datagram id.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = addressed(a, RDMA_PS_UDP, "10.77.0.1:7000");
	unsigned char data[8] = { 1, 2, 3 };
	static const int types[] = { RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR,
					 RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE,
					 RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DEVICE_REMOVAL,
					 RDMA_CM_EVENT_ADDR_CHANGE, RDMA_CM_EVENT_TIMEWAIT_EXIT };

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct rdmafake_event e = { .handle = handle_of(a, 0), .event = (uint32_t)types[i],
						.status = -5, .pdata = data, .pdata_len = 3, .qp_num = 0x77,
						.qkey = 0x88, .ud = 1 };

		if (RDMAFAKE(rdmafake_inject)(&e))
			say("cannot inject");
		take(a);
	}
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
