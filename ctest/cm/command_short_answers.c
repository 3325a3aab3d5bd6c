// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sanitizer: no
 * Every command of a life whose write takes nothing, too little or too much is an error, never a success.
 */
#include "trace.h"

static const char *const sizes[] = { "0", "-1", "+1", "8" };
static const char *const commands[] = { "CREATE_ID", "BIND", "RESOLVE_ADDR", "LISTEN", "SET_OPTION",
					"JOIN_MCAST", "MIGRATE_ID", "RESOLVE_ROUTE", "DESTROY_ID" };

int main(void)
{
	for (int c = 0; c < 9; c++)
		for (int s = 0; s < 4; s++) {
			struct rdma_event_channel *ch = channel(), *other = channel();
			struct rdma_cm_id *id = NULL, *udp = bound(ch, RDMA_PS_UDP, "10.77.0.1:0");
			struct rdma_cm_id *route = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000");
			unsigned char tos = 1;
			char script[64];

			snprintf(script, sizeof(script), "answer %s size=%s skip", commands[c], sizes[s]);
			say("%s", script);
			if (c != 0)
				id = new_id(ch, RDMA_PS_TCP);
			fake(script);
			switch (c) {
			case 0: CALL(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP)); break;
			case 1: CALL(rdma_bind_addr(id, addr("10.77.0.1:7000"))); break;
			case 2: CALL(rdma_resolve_addr(id, NULL, addr("10.77.0.1:7000"), 1000)); break;
			case 3: CALL(rdma_listen(id, 1)); break;
			case 4: CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1)); break;
			case 5: CALL(rdma_join_multicast(udp, addr("239.1.1.1"), NULL)); break;
			case 6: CALL(rdma_migrate_id(id, other)); break;
			case 7: CALL(rdma_resolve_route(route, 1000)); break;
			case 8: CALL(rdma_destroy_id(id)); id = NULL; break;
			}
			RDMAFAKE(rdmafake_reset)();
			if (id)
				MUST(rdma_destroy_id(id));
			MUST(rdma_destroy_id(udp));
			MUST(rdma_destroy_id(route));
			rdma_destroy_event_channel(ch);
			rdma_destroy_event_channel(other);
		}
	return done();
}
