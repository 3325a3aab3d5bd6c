// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-31
 * A child destroys the ids and channel it inherited: its parent's objects stay.
 */
#include "trace.h"

static struct rdma_cm_id *id;
static struct rdma_event_channel *ch;

static void child(void *arg)
{
	CALL(rdma_destroy_id(id));
	VOID(rdma_destroy_event_channel(ch));
}

int main(void)
{
	ch = channel();
	id = bound(ch, RDMA_PS_TCP, "10.77.0.1:7471");
	in_child("child", child, NULL);
	say("commands of the child: %lu", RDMAFAKE(rdmafake_foreign)());
	CALL(rdma_listen(id, 1));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
