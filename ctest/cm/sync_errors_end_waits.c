// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-10
 * Every *_ERROR event ends a synchronous call, with the errno of its status.
 */
#include "trace.h"

static const char *const events[] = { "ADDR_ERROR", "ROUTE_ERROR", "CONNECT_ERROR", "UNREACHABLE",
					  "REJECTED", "DISCONNECTED", "DEVICE_REMOVAL", "ADDRINFO_ERROR" };
static const char *const statuses[] = { "0", "-110", "110", "28" };

int main(void)
{
	for (int e = 0; e < 8; e++)
		for (int s = 0; s < 4; s++) {
			struct rdma_cm_id *id = addressed(NULL, RDMA_PS_TCP, "10.77.0.1:7000");
			char script[128];

			RDMAFAKE(rdmafake_reset)();
			snprintf(script, sizeof(script), "drop ROUTE_RESOLVED; inject RESOLVE_ROUTE event=%s status=%s",
				 events[e], statuses[s]);
			fake(script);
			say("%s status %s", events[e], statuses[s]);
			CALL(rdma_resolve_route(id, 1000));
			CALL(rdma_destroy_id(id));
		}
	return done();
}
