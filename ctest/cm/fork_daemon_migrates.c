// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The parent of a daemon exits: the child moves what it inherited to a channel of its own. A real kernel takes no
 * command of the child on the inherited channel (EACCES).
 */
#include "trace.h"

/* Says that the parent has ended and been told of. */
static int go[2];

static void child(struct rdma_cm_id *id)
{
	struct rdma_event_channel *own;
	char begin;

	if (read(go[0], &begin, 1) != 1)
		_exit(4);
	own = channel();
	CALL(rdma_migrate_id(id, own));
	CALL(rdma_listen(id, 1));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(own);
}

static void parent(void *arg)
{
	struct rdma_cm_id *id = bound(channel(), RDMA_PS_TCP, "10.77.0.1:7471");

	if (fork())
		_exit(0);
	child(id);
}

int main(void)
{
	int fds[2];
	char end;

	if (pipe(fds) || pipe(go))
		return 3;
	in_child("parent", parent, NULL);
	if (write(go[1], "", 1) != 1)
		return 4;
	close(fds[1]);
	say("all ended: %zd", read(fds[0], &end, 1));
	return 0;
}
