// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The names of all event types that both libraries know, and of numbers that are none.
 */
#include "trace.h"

int main(void)
{
	for (int i = 0; i < 16; i++)
		say("%d %s", i, rdma_event_str(i));
	say("%s", rdma_event_str(20));
	say("%s", rdma_event_str(1000));
	say("%s", rdma_event_str((enum rdma_cm_event_type)-1));
	return done();
}
