// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The child of a connected parent exits: the connection stays.
 */
#include "trace.h"

static void child(void *arg)
{
}

int main(void)
{
	struct pair p;

	pair_connect(&p);
	in_child("child", child, NULL);
	none(p.active);
	CALL(rdma_disconnect(p.client));
	take(p.passive);
	pair_destroy(&p);
	return done();
}
