// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-23
 * A synchronous id can leave its group while the event of the join is still in the id.
 * theirs: hangs
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = addressed(NULL, RDMA_PS_UDP, "10.77.0.1:7000");

	CALL(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	say("event %s", id->event ? "kept" : "gone");
	CALL(rdma_destroy_id(id));
	return done();
}
