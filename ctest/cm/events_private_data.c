// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Events with private data of 0, 1, 56, 255 bytes.
 */
#include "trace.h"

static unsigned char bytes[256];
static const unsigned lengths[] = { 0, 1, 56, 255 };

int main(void)
{
	struct rdma_event_channel *a = channel();
	struct rdma_cm_id *id = addressed(a, RDMA_PS_TCP, "10.77.0.1:7000");

	for (int i = 0; i < 256; i++)
		bytes[i] = (unsigned char)(i * 7 + 1);
	for (int i = 0; i < 4; i++) {
		struct rdmafake_event e = { .handle = handle_of(a, 0), .event = RDMA_CM_EVENT_ESTABLISHED,
						.pdata = bytes, .pdata_len = lengths[i] };

		if (RDMAFAKE(rdmafake_inject)(&e))
			say("cannot inject");
		take(a);
	}
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(a);
	return done();
}
