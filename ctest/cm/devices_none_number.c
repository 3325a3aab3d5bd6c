// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: nodevices
 * A machine without a device: the number is 0.
 */
#include "trace.h"

int main(void)
{
	int n = -1;

	POINTER(rdma_get_devices(&n));
	say("number %d", n);
	return done();
}
