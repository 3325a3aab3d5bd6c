/*
 * fake: verbs get_device_list errno=ENOSYS always
 * A kernel without RDMA, as libibverbs tells it: ENODEV, there is no device.
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
