// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The parent of a daemon exits: the child goes on with what it inherited.
 */
#include "trace.h"

static struct rdma_cm_id *id;
static struct rdma_event_channel *ch;
/* Says that the parent has ended and been told of. */
static int go[2];

static void daemonised(void *arg)
{
	pid_t pid = fork();
	char begin;

	if (pid)
		_exit(0);
	if (read(go[0], &begin, 1) != 1)
		_exit(4);
	CALL(rdma_listen(id, 1));
	CALL(rdma_destroy_id(id));
}

static void parent(void *arg)
{
	ch = channel();
	id = bound(ch, RDMA_PS_TCP, "10.77.0.1:7471");
	daemonised(NULL);
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
	return done();
}
