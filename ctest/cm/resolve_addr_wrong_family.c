// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Resolving destinations of families that rdma_cm does not know.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);
	struct sockaddr_storage other = { .ss_family = AF_UNIX };

	CALL(rdma_resolve_addr(id, NULL, (struct sockaddr *)&other, 1000));
	CALL(rdma_resolve_addr(id, (struct sockaddr *)&other, addr("10.77.0.1:7000"), 1000));
	other.ss_family = 0;
	CALL(rdma_resolve_addr(id, NULL, (struct sockaddr *)&other, 1000));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
