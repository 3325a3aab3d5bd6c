// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-25
 * The channel is destroyed before its id: the id is still freed, without an error.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	VOID(rdma_destroy_event_channel(ch));
	CALL(rdma_destroy_id(id));
	return done();
}
