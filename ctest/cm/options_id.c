// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every option of level ID with every length.
 */
#include "trace.h"

static const unsigned char value[64] = { 1 };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (int option = 0; option < 6; option++)
		for (unsigned length = 0; length < 9; length++) {
			struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

			say("option %d length %u", option, length);
			CALL(rdma_set_option(id, RDMA_OPTION_ID, option, (void *)value, length));
			MUST(rdma_destroy_id(id));
		}
	rdma_destroy_event_channel(ch);
	return done();
}
