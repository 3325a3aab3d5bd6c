// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-10
 * fake: delay ADDR_RESOLVED ms=400
 * A signal ends a synchronous wait with EINTR; the late event does not count as the next call's.
 */
#include "trace.h"
#include <poll.h>

int main(void)
{
	struct rdma_cm_id *id = new_id(NULL, RDMA_PS_TCP);
	struct pollfd late = { .events = POLLIN };

	handle(SIGALRM, 0);
	ualarm(100000, 0);
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	late.fd = id->channel->fd;
	poll(&late, 1, 10000);
	CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000));
	CALL(rdma_resolve_route(id, 1000));
	CALL(rdma_destroy_id(id));
	return done();
}
