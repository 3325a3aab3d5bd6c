// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An address that the kernel refuses leaves the id's addresses as they were.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");

	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7001"), 1000));
	show_id(id);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
