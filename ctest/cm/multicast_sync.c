// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A synchronous id joins and leaves; the event is in the id.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = addressed(NULL, RDMA_PS_UDP, "10.77.0.1:7000");
	int context;

	name(&context, "group");
	name(id, "id");
	CALL(rdma_join_multicast(id, addr("239.1.1.1"), &context));
	show_event(id->event);
	CALL(rdma_join_multicast(id, addr("239.1.1.2"), &context));
	show_event(id->event);
	CALL(rdma_destroy_id(id));
	return done();
}
