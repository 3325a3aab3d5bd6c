// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A completion that comes while the helper sleeps wakes it.
 */
#include "trace.h"

static char buffer[64];
static struct pair p;

static void *later(void *mr)
{
	usleep(200000);
	return (void *)(long)rdma_post_send(p.client, NULL, buffer, 8, mr, 0);
}

int main(void)
{
	struct ibv_mr *mo, *mi;
	struct ibv_wc wc;
	static char in[64];
	pthread_t thread;

	pair_connect(&p);
	MUST(!!(mo = HELPER(rdma_reg_msgs)(p.client, buffer, 64)));
	MUST(!!(mi = HELPER(rdma_reg_msgs)(p.child, in, 64)));
	MUST(HELPER(rdma_post_recv)(p.child, NULL, in, 64, mi));
	thread = background(later, mo);
	CALL(HELPER(rdma_get_recv_comp)(p.child, &wc));
	say("status %d length %u", wc.status, wc.byte_len);
	say("posted %ld", (long)finish(thread));
	CALL(HELPER(rdma_get_send_comp)(p.client, &wc));
	ibv_dereg_mr(mo);
	ibv_dereg_mr(mi);
	pair_destroy(&p);
	return done();
}
