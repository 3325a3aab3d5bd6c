// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The device that a test runs on: the soft one, or rxe in a guest. */
#ifndef DEVICE_H
#define DEVICE_H

#include "check.h"

/* Whether it has gone, in time. */
static inline int device_goes(void)
{
	if (on_soft_device())
		RDMAFAKE(rdmafake_device_remove)("fake0");
	else if (system("timeout 20 rdma link delete rxe0"))
		return 0;
	return 1;
}

static inline void device_returns(void)
{
	if (on_soft_device())
		RDMAFAKE(rdmafake_device_return)("fake0");
	else if (system("for i in 1 2 3 4 5 6 7 8 9; do rdma link add rxe0 type rxe netdev d0 && break; sleep 0.5; done; "
			"for i in 1 2 3 4 5 6 7 8 9; do grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state && break;"
			" sleep 0.5; done"))
		exit(2);
}

/* Packets over the device. */
static inline long over_device(void)
{
	FILE *file = fopen("/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts", "r");
	long count = 0;

	if (on_soft_device())
		count = RDMAFAKE(rdmafake_verbs)("post_send");
	else if (!file || fscanf(file, "%ld", &count) != 1)
		exit(2);
	if (file)
		fclose(file);
	return count;
}

#endif
