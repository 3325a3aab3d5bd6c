// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Signals every millisecond while connections are made: calls end with EINTR or work, nothing else. */
#include "stress.h"

#include <sys/time.h>

int main(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct rdma_event_channel *ch = rdma_create_event_channel();

	handle(SIGALRM, 0);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0, n = rounds(300); i < n; i++) {
		struct rdma_cm_id *id = NULL;
		struct rdma_cm_event *event = NULL;
		int r;

		CHECK(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		CHECK(!rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
		while ((r = rdma_get_cm_event(ch, &event)) && errno == EINTR)
			;
		CHECK(!r && event && event->event == RDMA_CM_EVENT_ADDR_RESOLVED && !event->status);
		CHECK(!r && !rdma_ack_cm_event(event));
		CHECK(!rdma_destroy_id(id));
	}
	setitimer(ITIMER_REAL, &never, NULL);
	rdma_destroy_event_channel(ch);
	return end("signals");
}
