// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A connected id moves; its disconnection is told on the new channel.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *b = channel();
	struct pair p;

	pair_connect(&p);
	CALL(rdma_migrate_id(p.client, b));
	CALL(rdma_disconnect(p.child));
	take(b);
	take(p.passive);
	none(p.active);
	rdma_destroy_event_channel(p.active);
	p.active = b;
	pair_destroy(&p);
	return done();
}
