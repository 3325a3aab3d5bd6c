// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * rdma_get_devices with two devices, with and without a place for the number; freed in both orders.
 * fake: device name=one ip=10.77.0.1/24
 * fake: device name=two ip=10.78.0.1/24
 */
#include "trace.h"

int main(void)
{
	struct ibv_context **a, **b;
	int n = -1;

	POINTER(a = rdma_get_devices(&n));
	say("%d devices", n);
	for (int i = 0; a[i]; i++)
		say("device %d %s", i, ibv_get_device_name(a[i]->device));
	POINTER(b = rdma_get_devices(NULL));
	say("same contexts: %d", a[0] == b[0] && a[1] == b[1]);
	VOID(rdma_free_devices(a));
	say("still usable: %s", ibv_get_device_name(b[0]->device));
	VOID(rdma_free_devices(b));
	return done();
}
