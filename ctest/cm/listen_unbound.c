// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * listen on an id that was not bound: the kernel chooses a port.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	CALL(rdma_listen(id, 1));
	say("port %s", rdma_get_src_port(id) ? "chosen" : "zero");
	CALL(rdma_listen(id, 1));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
