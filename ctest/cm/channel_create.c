// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An event channel: made, its descriptor is closed on exec, destroyed.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch;

	POINTER(ch = rdma_create_event_channel());
	CALL(fcntl(ch->fd, F_GETFD));
	CALL(fcntl(ch->fd, F_GETFL) & O_NONBLOCK);
	none(ch);
	VOID(rdma_destroy_event_channel(ch));
	return done();
}
