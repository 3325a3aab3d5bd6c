// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: fail node errno=EACCES always
 * fake: fail chardev errno=EACCES always
 * The rdma_cm node may not be opened: EACCES from an event channel.
 */
#include "trace.h"

int main(void)
{
	POINTER(rdma_create_event_channel());
	return done();
}
