// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: nodevices
 * A machine without a device: ENODEV from every first call.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id;
	int n = -1;

	POINTER(rdma_get_devices(&n));
	POINTER(rdma_create_event_channel());
	CALL(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	return done();
}
