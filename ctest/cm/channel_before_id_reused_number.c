// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-25
 * The channel is destroyed before its id, and another channel gets the number: the id's calls must
 * not act on the other channel's objects.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *first = channel(), *second;
	struct rdma_cm_id *id = new_id(first, RDMA_PS_TCP), *other;
	int number = first->fd;

	rdma_destroy_event_channel(first);
	second = channel();
	say("same number: %s", second->fd == number ? "yes" : "no");
	other = new_id(second, RDMA_PS_TCP);
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
	CALL(rdma_destroy_id(id));
	say("ids of the other channel: %d", RDMAFAKE(rdmafake_handles)(second->fd, NULL, 0));
	CALL(rdma_bind_addr(other, addr("10.77.0.1:7000")));
	CALL(rdma_destroy_id(other));
	rdma_destroy_event_channel(second);
	return done();
}
