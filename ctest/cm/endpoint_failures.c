// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * rdma_create_ep fails at each step: the errno survives, nothing leaks.
 */
#include "trace.h"

static const char *const scripts[] = {
	"fail CREATE_ID errno=EMFILE", "fail RESOLVE_ADDR errno=ENOBUFS", "fail RESOLVE_ROUTE errno=ENOLCK",
	"verbs create_qp errno=ENOSPC", "verbs create_cq errno=ENOMEM", "kernel addr_error=ENETUNREACH",
};

int main(void)
{
	struct rdma_addrinfo hints = { .ai_family = AF_INET, .ai_port_space = RDMA_PS_TCP }, *res;

	MUST(rdma_getaddrinfo("10.77.0.1", "7471", &hints, &res));
	for (int i = 0; i < 5; i++) {
		struct rdma_cm_id *id = NULL;

		fake(scripts[i]);
		say("%s", scripts[i]);
		CALL(rdma_create_ep(&id, res, NULL, qp_attr()));
		RDMAFAKE(rdmafake_reset)();
	}
	rdma_freeaddrinfo(res);
	return done();
}
