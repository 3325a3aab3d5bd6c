// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Event types that this library does not know yet.
 */
#include "trace.h"

static const int types[] = { 20, 21, 99 };

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	for (int i = 0; i < 3; i++) {
		inject(a, types[i], -1);
		take(a);
	}
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
