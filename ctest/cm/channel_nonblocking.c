// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A non-blocking channel without an event: EAGAIN, and the caller's pointer stays as it was.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_event *event = (void *)&ch;

	CALL(fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	CALL(rdma_get_cm_event(ch, &event));
	say("pointer %s", event == (void *)&ch ? "kept" : "changed");
	CALL(rdma_get_cm_event(ch, &event));
	rdma_destroy_event_channel(ch);
	return done();
}
