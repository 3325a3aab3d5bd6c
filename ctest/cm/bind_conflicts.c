// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Addresses and ports that cannot be had. The manual pages list what a real kernel says (ctest/run lab).
 */
#include "trace.h"

static struct rdma_event_channel *ch;

static void bind_fresh(const char *to)
{
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	say("bind to %s", to);
	CALL(rdma_bind_addr(id, addr(to)));
	MUST(rdma_destroy_id(id));
}

static void resolve_fresh(const char *from, const char *to)
{
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	say("resolve %s from %s", to, from ? from : "anywhere");
	CALL(rdma_resolve_addr(id, from ? addr(from) : NULL, addr(to), 100));
	MUST(rdma_destroy_id(id));
}

int main(void)
{
	struct rdma_cm_id *holder;

	ch = channel();
	holder = bound(ch, RDMA_PS_TCP, "10.77.0.1:7000");
	bind_fresh("192.0.2.1:7001");
	bind_fresh("127.0.0.1:7001");
	bind_fresh("10.77.0.1:7000");
	bind_fresh("0.0.0.0:7000");
	resolve_fresh("192.0.2.1:0", "10.77.0.1:7001");
	resolve_fresh("10.77.0.1:7000", "10.77.0.1:7001");
	resolve_fresh("[fd00:77::1]:0", "10.77.0.1:7001");
	resolve_fresh(NULL, "192.0.2.1:7001");
	MUST(rdma_destroy_id(holder));
	rdma_destroy_event_channel(ch);
	return done();
}
