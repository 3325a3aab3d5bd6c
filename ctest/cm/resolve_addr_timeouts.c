// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Time limits of all sizes are passed on.
 */
#include "trace.h"

static const int limits[] = { 1, 0, -1, 0x7fffffff };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (int i = 0; i < 4; i++) {
		struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

		name(id, "id");
		say("limit %d", limits[i]);
		if (CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), limits[i])) == 0)
			take(ch);
		if (CALL(rdma_resolve_route(id, limits[i])) == 0)
			take(ch);
		CALL(rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(ch);
	return done();
}
