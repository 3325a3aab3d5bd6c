// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A child makes its own channel, id and connection after its parent used the library.
 */
#include "trace.h"

static void child(void *arg)
{
	struct pair p;

	pair_connect(&p);
	say("connected");
	pair_destroy(&p);
}

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");

	in_child("child", child, NULL);
	CALL(rdma_resolve_route(id, 1000));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
