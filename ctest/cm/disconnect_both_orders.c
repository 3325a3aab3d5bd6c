// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Disconnecting from each side and from both, and once more.
 */
#include "trace.h"

static void run(bool passive, bool both)
{
	struct pair p;

	pair_connect(&p);
	say("from the %s side", both ? "active and the passive" : passive ? "passive" : "active");
	if (!passive || both)
		CALL(rdma_disconnect(p.client));
	if (passive || both)
		CALL(rdma_disconnect(p.child));
	take(p.active);
	take(p.passive);
	CALL(rdma_disconnect(p.client));
	CALL(rdma_disconnect(p.child));
	pair_destroy(&p);
}

int main(void)
{
	run(false, false);
	run(true, false);
	run(false, true);
	return done();
}
