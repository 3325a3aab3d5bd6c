// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-25
 * The kernel refuses DESTROY_ID: the errno is told and the id's memory is gone all the same.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = new_id(a, RDMA_PS_TCP);

	fake("fail DESTROY_ID errno=EIO");
	CALL(rdma_destroy_id(id));
	say("ids in the kernel: %d", RDMAFAKE(rdmafake_handles)(a->fd, NULL, 0));
	inject(a, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	CALL(fcntl(a->fd, F_SETFL, O_NONBLOCK));
	struct rdma_cm_event *event;
	CALL(rdma_get_cm_event(a, &event));
	rdma_destroy_event_channel(a);
	return done();
}
