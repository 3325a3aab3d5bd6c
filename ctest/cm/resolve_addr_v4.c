// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Resolving an IPv4 destination: the event, the addresses, the device.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	name(id, "id");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	show_id(id);
	CALL(ntohs(rdma_get_dst_port(id)));
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
