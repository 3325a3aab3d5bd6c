// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device name=one ip=10.77.0.1/24
 * The device goes under a connection: every id gets its event.
 */
#include "trace.h"

int main(void)
{
	struct pair p;

	pair_connect(&p);
	CALL(RDMAFAKE(rdmafake_device_remove)("one"));
	take(p.active);
	take(p.passive);
	none(p.active);
	pair_destroy(&p);
	return done();
}
