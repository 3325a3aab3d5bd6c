// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * bind to a device's IPv4 address, then again, then read the ports.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	name(id, "id");
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
	show_id(id);
	CALL(ntohs(rdma_get_src_port(id)));
	CALL(ntohs(rdma_get_dst_port(id)));
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7001")));
	show_addr("local", rdma_get_local_addr(id));
	show_addr("peer", rdma_get_peer_addr(id));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
