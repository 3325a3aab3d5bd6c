// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* An event that is given back twice is refused, in the same thread, after some others, and by one of two threads
 * at once; the id's count of events stays right. Its memory may be another event later.
 * differs: C-41
 * theirs: varies
 * sanitizer: no */
#include "trace.h"

static struct rdma_event_channel *events;

static struct rdma_cm_event *one(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event = NULL;

	MUST(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 2000));
	MUST(rdma_get_cm_event(events, &event));
	return event;
}

static void *give_back(void *event)
{
	return (void *)(long)rdma_ack_cm_event(event);
}

int main(void)
{
	struct rdma_cm_event *first, *later;
	struct rdma_cm_id *id;
	int refused = 0;

	events = channel();
	id = new_id(events, RDMA_PS_TCP);
	first = one(id);
	CALL(rdma_ack_cm_event(first));
	CALL(rdma_ack_cm_event(first));
	MUST(rdma_destroy_id(id));
	for (int i = 0; i < 8; i++) {
		id = new_id(events, RDMA_PS_TCP);
		later = one(id);
		MUST(rdma_ack_cm_event(later));
		MUST(rdma_destroy_id(id));
	}
	CALL(rdma_ack_cm_event(first));
	for (int i = 0; i < 200; i++) {
		pthread_t other;

		id = new_id(events, RDMA_PS_TCP);
		later = one(id);
		other = background(give_back, later);
		refused += rdma_ack_cm_event(later) != 0;
		refused += finish(other) != NULL;
		MUST(rdma_destroy_id(id));
	}
	printf("of 400 by two threads %d refused\n", refused);
	rdma_destroy_event_channel(events);
	return done();
}
