// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * bind to the wildcard and the loop-back addresses: no device, no error.
 */
#include "trace.h"

static const char *const where[] = { "0.0.0.0:7000", "127.0.0.1:7001", "[::]:7002", "[::1]:7003" };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (int i = 0; i < 4; i++) {
		struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

		name(id, where[i]);
		CALL(rdma_bind_addr(id, addr(where[i])));
		show_id(id);
		CALL(rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(ch);
	return done();
}
