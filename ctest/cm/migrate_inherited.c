// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A forked worker moves an inherited listener to a channel of its own while its parent lives, and serves there:
 * the kernel allows exactly that. (It refuses commands on the inherited channel with EACCES.)
 */
#include "trace.h"
#include <sys/wait.h>

static struct rdma_cm_id *id;
static struct rdma_event_channel *ch;

static void worker(void *arg)
{
	struct rdma_event_channel *own = channel();
	struct rdma_cm_event *event;

	(void)arg;
	CALL(rdma_get_cm_event(ch, &event));
	CALL(rdma_migrate_id(id, own));
	CALL(rdma_listen(id, 4));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(own);
}

int main(void)
{
	ch = channel();
	id = bound(ch, RDMA_PS_TCP, "10.77.0.1:7471");
	in_child("worker", worker, NULL);
	/* It was the worker's. */
	CALL(rdma_listen(id, 1));
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
	return done();
}
