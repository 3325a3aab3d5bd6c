// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * bind to port zero: the kernel chooses, the library reads the port back.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	CALL(rdma_bind_addr(id, addr("10.77.0.1:0")));
	say("port %s", rdma_get_src_port(id) ? "chosen" : "zero");
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
