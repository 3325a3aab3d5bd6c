// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An address of the device's network that does not answer: ADDR_ERROR, and the id can try again.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	name(id, "id");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.9:7000"), 10));
	take(ch);
	show_id(id);
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	show_id(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
