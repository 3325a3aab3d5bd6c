// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An id of each port space, and of numbers that are none.
 */
#include "trace.h"

static const int spaces[] = { RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, 0, 1, 0x107,
				  0x10000, -1 };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (unsigned i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		struct rdma_cm_id *id = NULL;

		if (spaces[i] > 0xffff || spaces[i] < 0)
			continue;
		say("port space %x", spaces[i]);
		if (CALL(rdma_create_id(ch, &id, ch, spaces[i])) == 0) {
			name(id, "id");
			name(ch, "channel");
			show_id(id);
			say("channel %s", name_of(id->channel));
			CALL(rdma_destroy_id(id));
		}
	}
	rdma_destroy_event_channel(ch);
	return done();
}
