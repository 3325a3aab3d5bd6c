// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-29
 * The names of the newer event types.
 */
#include "trace.h"

int main(void)
{
	for (int i = 16; i < 20; i++)
		say("%d %s", i, rdma_event_str(i));
	return done();
}
