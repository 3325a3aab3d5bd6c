// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sanitizer: no
 * differs: C-14, and a short answer counts as a whole one
 * Short answers of the queries behind calls and events.
 */
#include "trace.h"

static const char *const sizes[] = { "0", "-1", "+1" };

int main(void)
{
	for (int s = 0; s < 3; s++) {
		struct rdma_event_channel *ch = channel();
		struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP), *other = new_id(ch, RDMA_PS_TCP);
		char script[128];

		snprintf(script, sizeof(script), "answer QUERY size=%s skip; answer QUERY_ROUTE size=%s skip", sizes[s], sizes[s]);
		say("%s", script);
		fake(script);
		CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
		RDMAFAKE(rdmafake_reset)();
		fake(script);
		CALL(rdma_resolve_addr(other, NULL, addr("10.77.0.1:7001"), 1000));
		take(ch);
		RDMAFAKE(rdmafake_reset)();
		CALL(rdma_destroy_id(id));
		CALL(rdma_destroy_id(other));
		rdma_destroy_event_channel(ch);
	}
	return done();
}
