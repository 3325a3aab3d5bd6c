// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program with 4 MB of static thread-local storage, which glibc puts into the stack of each thread, also
 * of the one that resolves names.
 *
 * theirs: absent
 * sanitizer: no
 */
#include "resolve.h"

static __thread char large[4000000];

int main(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST };
	struct rdma_cm_id *id;

	large[0] = large[sizeof large - 1] = 1;
	need_resolve();
	trace_result("rdma_create_id", rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	trace_result("rdma_resolve_addrinfo", rdma_resolve_addrinfo(id, "127.0.0.1", "1", &hints));
	trace_event(channel, 5000);
	trace_result("rdma_destroy_id", rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return 0;
}
