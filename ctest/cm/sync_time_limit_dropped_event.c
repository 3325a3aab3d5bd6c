// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-10, C-24
 * env: RDMACM_SYNC_TIMEOUT_MS=300
 * theirs: hangs
 * fake: drop ADDR_RESOLVED
 * The limit holds although events of nobody arrive meanwhile.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = new_id(NULL, RDMA_PS_TCP);
	struct rdmafake_event e = { .handle = ~0u, .fd = id->channel->fd, .event = RDMA_CM_EVENT_ADDR_CHANGE,
					.uid_set = 1, .uid = 77 };

	if (RDMAFAKE(rdmafake_inject)(&e))
		say("cannot inject");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	CALL(rdma_destroy_id(id));
	return done();
}
