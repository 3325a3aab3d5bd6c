// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * A port space that does not fit the kernel's 16 bits is EINVAL, not a truncated one.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = NULL;

	CALL(rdma_create_id(ch, &id, NULL, (enum rdma_port_space)(0x10000 + RDMA_PS_TCP)));
	CALL(rdma_create_id(ch, &id, NULL, (enum rdma_port_space)-1));
	rdma_destroy_event_channel(ch);
	return done();
}
