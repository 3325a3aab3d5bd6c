// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * RESOLVE_ADDR, RESOLVE_ROUTE, SET_OPTION, NOTIFY and JOIN fail once each: the errno survives.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);
	unsigned char tos = 1;

	fake("fail RESOLVE_ADDR errno=ENOBUFS; fail RESOLVE_ROUTE errno=ENOLCK; fail SET_OPTION errno=EPERM;"
		 "fail NOTIFY errno=ENXIO; fail DISCONNECT errno=ENOTCONN");
	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	none(ch);
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	CALL(rdma_resolve_route(id, 1000));
	CALL(rdma_resolve_route(id, 1000));
	take(ch);
	CALL(rdma_notify(id, IBV_EVENT_COMM_EST));
	CALL(rdma_disconnect(id));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
