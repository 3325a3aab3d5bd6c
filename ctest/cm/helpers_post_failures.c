// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The provider refuses to post, to register, to arm: the errno survives.
 */
#include "trace.h"

static char buffer[4096];

int main(void)
{
	struct ibv_wc wc;
	struct ibv_mr *mr;
	struct pair p;

	pair_connect(&p);
	fake("verbs reg_mr errno=ENOSPC; verbs post_send errno=ENOBUFS; verbs post_recv errno=EMSGSIZE;"
		 "verbs req_notify_cq errno=EIO");
	POINTER(HELPER(rdma_reg_msgs)(p.client, buffer, 64));
	MUST(!!(mr = HELPER(rdma_reg_msgs)(p.client, buffer, 64)));
	CALL(HELPER(rdma_post_send)(p.client, NULL, buffer, 8, mr, 0));
	CALL(HELPER(rdma_post_recv)(p.client, NULL, buffer, 8, mr));
	CALL(HELPER(rdma_get_recv_comp)(p.client, &wc));
	for (int i = 0; i < 6; i++)
		CALL(HELPER(rdma_post_recv)(p.client, NULL, buffer, 8, mr));
	ibv_dereg_mr(mr);
	pair_destroy(&p);
	return done();
}
