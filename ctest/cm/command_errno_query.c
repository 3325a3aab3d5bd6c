// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-14
 * The query after ADDR_RESOLVED and ROUTE_RESOLVED fails: an error event with -errno.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	fake("fail QUERY errno=ENOBUFS; fail QUERY_ROUTE errno=ENOBUFS");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	RDMAFAKE(rdmafake_reset)();
	id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	fake("fail QUERY errno=ENOBUFS; fail QUERY_ROUTE errno=ENOBUFS");
	CALL(rdma_resolve_route(id, 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
