// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Finds ibacm on the TCP port that its port file names, before its Unix socket.
 *
 * fake: device name=ib0 type=ib ip=10.77.0.1/24
 */
#include "ibacm.h"

int main(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_qp_type = IBV_QPT_RC,
				       .ai_port_space = RDMA_PS_TCP };
	struct sockaddr_in source = { .sin_family = AF_INET };
	struct rdma_addrinfo *res = NULL, *entry;
	pid_t daemon;

	setvbuf(stdout, NULL, _IOLBF, 0);
	acm_private_run();
	daemon = acm_tcp_daemon();
	inet_pton(AF_INET, "10.77.0.1", &source.sin_addr);
	hints.ai_src_addr = (void *)&source;
	hints.ai_src_len = sizeof(source);
	trace_result("rdma_getaddrinfo", rdma_getaddrinfo("10.77.0.2", "7471", &hints, &res));
	for (entry = res; entry; entry = entry->ai_next)
		if (entry->ai_family != AF_IB)
			trace_entry(entry);
	rdma_freeaddrinfo(res);
	acm_stop(daemon);
	return 0;
}
