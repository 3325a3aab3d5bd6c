// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fake: device name=one ip=10.77.0.1/24
 * fake: device name=two ip=10.78.0.1/24
 * A domain of another device is EINVAL.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *one = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	struct rdma_cm_id *two = addressed(ch, RDMA_PS_TCP, "10.78.0.1:7000");

	say("two devices: %s %s", ibv_get_device_name(one->verbs->device), ibv_get_device_name(two->verbs->device));
	CALL(rdma_create_qp(one, two->pd, qp_attr()));
	CALL(rdma_create_qp(one, one->pd, qp_attr()));
	rdma_destroy_qp(one);
	CALL(rdma_destroy_id(one));
	CALL(rdma_destroy_id(two));
	rdma_destroy_event_channel(ch);
	return done();
}
