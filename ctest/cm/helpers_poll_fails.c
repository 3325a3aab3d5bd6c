// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-30
 * A failing poll: -1 and a positive errno.
 */
#include "trace.h"

int main(void)
{
	struct ibv_wc wc;
	struct pair p;

	pair_connect(&p);
	fake("verbs poll_cq errno=EIO always");
	CALL(HELPER(rdma_get_send_comp)(p.client, &wc));
	pair_destroy(&p);
	return done();
}
