// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two ids on one address and port, then the second one after the first has gone.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *a = bound(ch, RDMA_PS_TCP, "10.77.0.1:7000"), *b = new_id(ch, RDMA_PS_TCP);

	CALL(rdma_bind_addr(b, addr("10.77.0.1:7000")));
	CALL(rdma_bind_addr(b, addr("0.0.0.0:7000")));
	CALL(rdma_destroy_id(a));
	CALL(rdma_bind_addr(b, addr("10.77.0.1:7000")));
	CALL(rdma_destroy_id(b));
	rdma_destroy_event_channel(ch);
	return done();
}
