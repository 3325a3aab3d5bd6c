// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two ids on one port with the reuse option, and the IPv6-only option.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *a = new_id(ch, RDMA_PS_TCP), *b = new_id(ch, RDMA_PS_TCP);
	int on = 1;

	CALL(rdma_set_option(a, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)));
	CALL(rdma_set_option(b, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)));
	CALL(rdma_bind_addr(a, addr("10.77.0.1:7000")));
	CALL(rdma_bind_addr(b, addr("10.77.0.1:7000")));
	CALL(rdma_listen(a, 1));
	CALL(rdma_listen(b, 1));
	CALL(rdma_destroy_id(a));
	CALL(rdma_destroy_id(b));
	a = new_id(ch, RDMA_PS_TCP);
	b = new_id(ch, RDMA_PS_TCP);
	CALL(rdma_set_option(a, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)));
	CALL(rdma_bind_addr(a, addr("[::]:7001")));
	CALL(rdma_bind_addr(b, addr("0.0.0.0:7001")));
	CALL(rdma_listen(a, 1));
	CALL(rdma_listen(b, 1));
	CALL(rdma_destroy_id(a));
	CALL(rdma_destroy_id(b));
	rdma_destroy_event_channel(ch);
	return done();
}
