// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel's first handle is zero, which is a number like others.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	say("handle %u", handle_of(a, 0));
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
