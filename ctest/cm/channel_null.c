// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * NULL where a channel, an event or a place for one belongs.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_event *event;

	CALL(rdma_get_cm_event(NULL, &event));
	CALL(rdma_get_cm_event(ch, NULL));
	CALL(rdma_ack_cm_event(NULL));
	VOID(rdma_destroy_event_channel(NULL));
	rdma_destroy_event_channel(ch);
	return done();
}
