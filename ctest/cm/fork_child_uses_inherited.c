// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-31
 * A child's calls on what it inherited are refused with EACCES, as the kernel does.
 */
#include "trace.h"

static struct rdma_cm_id *id;
static struct rdma_event_channel *ch;

static void child(void *arg)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *other;

	CALL(rdma_listen(id, 1));
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7472")));
	CALL(rdma_create_id(ch, &other, NULL, RDMA_PS_TCP));
	CALL(rdma_get_cm_event(ch, &event));
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
