// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * listen with backlogs of all sizes.
 */
#include "trace.h"

static const int backlogs[] = { 0, 1, 1024, -1, 0x7fffffff, (int)0x80000000 };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (unsigned i = 0; i < sizeof(backlogs) / sizeof(backlogs[0]); i++) {
		struct rdma_cm_id *id = bound(ch, RDMA_PS_TCP, "10.77.0.1:7000");

		say("backlog %d", backlogs[i]);
		CALL(rdma_listen(id, backlogs[i]));
		CALL(rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(ch);
	return done();
}
