// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-10
 * fake: inject RESOLVE_ADDR event=DEVICE_REMOVAL
 * fake: drop ADDR_RESOLVED
 * DEVICE_REMOVAL ends a synchronous call with ENODEV.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = new_id(NULL, RDMA_PS_TCP);

	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	show_event(id->event);
	CALL(rdma_destroy_id(id));
	return done();
}
