// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sanitizer: no
 * An event whose read comes back short or long is an error and no event.
 */
#include "trace.h"

static const char *const sizes[] = { "0", "-1", "+1", "8" };

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_event *event = (void *)1;

	for (int s = 0; s < 4; s++) {
		char script[64];

		snprintf(script, sizeof(script), "answer GET_EVENT size=%s skip", sizes[s]);
		say("%s", script);
		fake(script);
		CALL(rdma_get_cm_event(ch, &event));
		say("event %s", event == (void *)1 ? "kept" : "changed");
		RDMAFAKE(rdmafake_reset)();
	}
	rdma_destroy_event_channel(ch);
	return done();
}
