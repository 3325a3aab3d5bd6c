// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: fail node errno=ENOENT always
 * fake: fail chardev errno=ENOENT always
 * The rdma_cm node is missing: ENOENT from an event channel.
 */
#include "trace.h"

int main(void)
{
	POINTER(rdma_create_event_channel());
	return done();
}
