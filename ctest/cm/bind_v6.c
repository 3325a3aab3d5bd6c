// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * bind to a device's IPv6 address.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	name(id, "id");
	CALL(rdma_bind_addr(id, addr("[fd00:77::1]:7000")));
	show_id(id);
	CALL(ntohs(rdma_get_src_port(id)));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
