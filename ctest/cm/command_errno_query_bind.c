// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The query after a bind fails: the errno survives.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	fake("fail QUERY errno=ENOBUFS; fail QUERY_ROUTE errno=ENOBUFS");
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
