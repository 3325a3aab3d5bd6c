// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Daemons that are slow, silent, wrong or gone: each is as if there was none, within a limit.
 *
 * The C library waits for ever for a silent daemon and takes a late reply for the next one, never
 * connects again, crashes on a path without a source, and copies records that are no paths
 * (A-5).
 *
 * differs
 * theirs: hangs
 * fake: device name=ib0 type=ib ip=10.77.0.1/24
 * env: RDMACM_IBACM_TIMEOUT_MS=300
 */
#include <time.h>
#include "ibacm.h"

/* A destination is named by what the daemon does with it. */
static void ask(const char *label, int wish, int family, double limit)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_family = family,
				       .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *res = NULL, *entry;
	double begin = now(), took;
	char node[20];
	int ret;

	printf("%s\n", label);
	snprintf(node, sizeof(node), "10.77.0.%d", wish);
	ret = rdma_getaddrinfo(node, "7471", &hints, &res);
	took = now() - begin;
	trace_result("rdma_getaddrinfo", ret);
	for (entry = res; !ret && entry; entry = entry->ai_next)
		trace_entry(entry);
	if (!ret)
		rdma_freeaddrinfo(res);
	printf("  %s\n", took < limit ? "in time" : "LATE");
}

int main(void)
{
	struct timespec rest = { .tv_sec = 5, .tv_nsec = 200000000 };
	pid_t daemon;

	setvbuf(stdout, NULL, _IOLBF, 0);
	acm_private_run();
	daemon = acm_daemon();
	ask("path without source, native addresses wished", ACM_ONE_PATH, AF_IB, 0.2);
	ask("source between paths", ACM_SOURCE_BETWEEN, AF_INET, 0.2);
	ask("no record", ACM_NO_RECORD, AF_INET, 0.2);
	ask("wrong version", ACM_WRONG_VERSION, AF_INET, 0.2);
	ask("wrong operation", ACM_WRONG_OPCODE, AF_INET, 0.2);
	ask("reply to another question", ACM_WRONG_TID, AF_INET, 0.2);
	ask("shorter than announced", ACM_SHORT, AF_INET, 0.2);
	ask("announced longer than any message", ACM_LONG, AF_INET, 0.2);
	ask("hangs up", ACM_HANG_UP, AF_INET, 0.2);
	ask("garbage", ACM_GARBAGE, AF_INET, 0.2);
	ask("still asked", ACM_TWO_PATHS, AF_INET, 0.2);
	handle(SIGALRM, 0);
	ualarm(20000, 20000);
	ask("silent, among signals", ACM_SILENT, AF_INET, 0.6);
	ualarm(0, 0);
	ask("left alone after that", ACM_ONE_PATH, AF_INET, 0.1);
	nanosleep(&rest, NULL);
	ask("asked again", ACM_ONE_PATH, AF_INET, 0.2);
	acm_stop(daemon);
	ask("gone", ACM_ONE_PATH, AF_INET, 0.2);
	daemon = acm_daemon();
	nanosleep(&rest, NULL);
	ask("started later", ACM_ONE_PATH, AF_INET, 0.2);
	acm_stop(daemon);
	return 0;
}
