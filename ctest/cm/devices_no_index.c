// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device name=one ip=10.77.0.1/24 guid=0x11
 * fake: device name=two ip=10.78.0.1/24 guid=0x22
 * fake: kernel index=0
 * Without an index from the kernel devices are told apart by GUID.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.78.0.1:7000");

	say("%s", ibv_get_device_name(id->verbs->device));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
