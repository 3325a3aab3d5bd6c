// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-10
 * env: RDMACM_SYNC_TIMEOUT_MS=300
 * theirs: hangs
 * fake: drop ADDR_RESOLVED
 * A synchronous call whose event never comes ends with ETIMEDOUT where waits are limited; the id can
 * be used afterwards.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = new_id(NULL, RDMA_PS_TCP);

	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	say("event %s", id->event ? "kept" : "none");
	CALL(rdma_destroy_id(id));
	return done();
}
