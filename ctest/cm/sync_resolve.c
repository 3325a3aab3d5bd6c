// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Synchronous calls leave their event in the id until the next call.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = new_id(NULL, RDMA_PS_TCP);

	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	show_event(id->event);
	CALL(rdma_resolve_route(id, 1000));
	show_event(id->event);
	CALL(rdma_resolve_route(id, 1000));
	CALL(rdma_destroy_id(id));
	return done();
}
