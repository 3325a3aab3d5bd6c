// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Resolving with a source address, good ones and bad ones.
 */
#include "trace.h"

static const char *const sources[] = { "10.77.0.1:0", "10.77.0.1:7100", "10.99.0.1:0",
					   "[fd00:77::1]:0", "0.0.0.0:0" };

int main(void)
{
	struct rdma_event_channel *ch = channel();

	for (int i = 0; i < 5; i++) {
		struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

		name(id, "id");
		say("source %s", sources[i]);
		if (CALL(rdma_resolve_addr(id, addr(sources[i]), addr("10.77.0.1:7000"), 1000)) == 0) {
			take(ch);
			show_addr("src", rdma_get_local_addr(id)->sa_family == AF_INET && i == 1 ?
				  rdma_get_local_addr(id) : NULL);
		}
		CALL(rdma_destroy_id(id));
	}
	rdma_destroy_event_channel(ch);
	return done();
}
