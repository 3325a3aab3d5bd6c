// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * All addresses of a name, the best first, each with what the hints say, once for each address.
 * Lengths in hints are held against their family, and an IPv4 text is no GID. The resolver's
 * failures have no errno, and what fails on the way to a success leaves none.
 *
 * differs, and errno is set after a success
 */
#include "trace.h"

static void ask(const char *label, const char *node, const char *service,
		const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *res = NULL, *entry;
	int ret;

	errno = EXDEV;
	ret = rdma_getaddrinfo(node, service, hints, &res);
	if (ret != -1 && errno != EXDEV)
		printf("errno was changed\n");
	trace_result(label, ret);
	for (entry = res; !ret && entry; entry = entry->ai_next)
		trace_entry(entry);
	if (!ret)
		rdma_freeaddrinfo(res);
}

int main(void)
{
	struct sockaddr_in source = { .sin_family = AF_INET };
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE }, *res;

	setvbuf(stdout, NULL, _IOLBF, 0);
	ask("wildcard", NULL, "7471", &hints);
	hints.ai_qp_type = IBV_QPT_UD;
	ask("wildcard of datagrams", NULL, "7471", &hints);
	hints.ai_flags = 0;
	ask("loopback of datagrams", NULL, "7471", &hints);
	hints.ai_qp_type = 0;
	ask("loopback without hints", NULL, "7471", NULL);
	inet_pton(AF_INET, "10.77.0.1", &source.sin_addr);
	hints.ai_src_addr = (void *)&source;
	hints.ai_src_len = sizeof(source);
	ask("loopback with a source of one family", NULL, "7471", &hints);

	/* A part may be taken out, as the C library allows. */
	trace_result("rdma_getaddrinfo", rdma_getaddrinfo("127.0.0.1", "1", &hints, &res));
	free(res->ai_src_addr);
	res->ai_src_addr = NULL;
	res->ai_dst_canonname = strdup("name");
	rdma_freeaddrinfo(res);

	hints.ai_src_len = sizeof(source) - 1;
	ask("short source", NULL, NULL, &hints);
	hints.ai_src_len = 4000;
	ask("long source", NULL, NULL, &hints);
	hints.ai_src_addr = NULL;
	ask("no source of a length", NULL, NULL, &hints);
	hints.ai_src_len = 0;
	hints.ai_dst_len = sizeof(source);
	ask("no destination of a length", NULL, NULL, &hints);
	ask("hint that is not needed", "127.0.0.1", "1", &hints);
	hints = (struct rdma_addrinfo){ .ai_flags = RAI_NUMERICHOST | RAI_FAMILY,
					.ai_family = AF_IB };
	ask("no number", "name", "1", &hints);
	ask("IPv4 text as a GID", "127.0.0.1", "1", &hints);
	hints.ai_flags |= RAI_PASSIVE;
	ask("native wildcard", NULL, "7471", &hints);
	trace_result("no place", rdma_getaddrinfo("127.0.0.1", "1", NULL, NULL));
	return 0;
}
