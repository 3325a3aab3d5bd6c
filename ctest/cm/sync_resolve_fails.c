// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A synchronous call that fails says why and leaves its event in the id.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = new_id(NULL, RDMA_PS_TCP);

	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.9:7000"), 10));
	show_event(id->event);
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	fake("kernel unreachable=0");
	CALL(rdma_destroy_id(id));
	return done();
}
