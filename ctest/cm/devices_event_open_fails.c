// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-14
 * The device cannot be opened when the address is resolved: ADDR_ERROR with a negative errno; the next
 * try works.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP), *again = new_id(ch, RDMA_PS_TCP);

	fake("verbs alloc_pd errno=ENOMEM");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	CALL(rdma_resolve_addr(again, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	CALL(rdma_destroy_id(again));
	rdma_destroy_event_channel(ch);
	return done();
}
