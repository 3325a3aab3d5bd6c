// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Levels and lengths that are none.
 */
#include "trace.h"

static const unsigned char value[256] = { 1 };
static const int levels[] = { 0, 1, 2, -1, 77 };
static const unsigned lengths[] = { 0, 4, 64, 72, 144, 256 };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (int l = 0; l < 5; l++)
		for (int n = 0; n < 6; n++) {
			struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

			say("level %d length %u", levels[l], lengths[n]);
			CALL(rdma_set_option(id, levels[l], 1, (void *)value, lengths[n]));
			MUST(rdma_destroy_id(id));
		}
	rdma_destroy_event_channel(ch);
	return done();
}
