// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The application closed the descriptor of the channel: every call says EBADF.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP), *other = NULL;
	struct rdma_cm_event *event;

	close(ch->fd);
	CALL(rdma_get_cm_event(ch, &event));
	CALL(rdma_create_id(ch, &other, NULL, RDMA_PS_TCP));
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
	CALL(rdma_listen(id, 1));
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	CALL(rdma_reject(id, NULL, 0));
	CALL(rdma_notify(id, IBV_EVENT_COMM_EST));
	return done();
}
