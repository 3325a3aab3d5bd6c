// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-23
 * fake: kernel mcast_error=ENETUNREACH
 * A synchronous join that fails leaves no membership behind.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = addressed(NULL, RDMA_PS_UDP, "10.77.0.1:7000");

	CALL(rdma_join_multicast(id, addr("239.1.1.1"), NULL));
	CALL(rdma_leave_multicast(id, addr("239.1.1.1")));
	CALL(rdma_destroy_id(id));
	return done();
}
