// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A get without a place for the event is EINVAL and takes no event away.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	name(id, "id");
	MUST(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	CALL(rdma_get_cm_event(ch, NULL));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
