// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A signal without SA_RESTART ends the wait with EINTR; the next wait works.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id;

	handle(SIGALRM, 0);
	alarm(1);
	CALL(rdma_get_cm_event(ch, &event));
	id = new_id(ch, RDMA_PS_TCP);
	name(id, "id");
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
