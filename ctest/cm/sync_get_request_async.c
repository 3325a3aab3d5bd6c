// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * rdma_get_request on an id that has a channel.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = bound(ch, RDMA_PS_TCP, "10.77.0.1:7471"), *child = NULL;

	MUST(rdma_listen(id, 1));
	CALL(rdma_get_request(id, &child));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
