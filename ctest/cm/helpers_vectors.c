// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The vector forms of the helpers.
 */
#include "trace.h"

static char out[4096], in[4096];

int main(void)
{
	struct ibv_mr *mo, *mi, *mr;
	struct ibv_sge send[2], recv[2];
	struct ibv_wc wc;
	struct pair p;

	pair_connect(&p);
	MUST(!!(mo = HELPER(rdma_reg_msgs)(p.client, out, sizeof(out))));
	MUST(!!(mi = HELPER(rdma_reg_msgs)(p.child, in, sizeof(in))));
	POINTER(mr = HELPER(rdma_reg_read)(p.child, in, sizeof(in)));
	strcpy(out, "one");
	strcpy(out + 100, "two");
	send[0] = (struct ibv_sge){ (uintptr_t)out, 4, mo->lkey };
	send[1] = (struct ibv_sge){ (uintptr_t)out + 100, 4, mo->lkey };
	recv[0] = (struct ibv_sge){ (uintptr_t)in, 2, mi->lkey };
	recv[1] = (struct ibv_sge){ (uintptr_t)in + 200, 60, mi->lkey };
	CALL(HELPER(rdma_post_recvv)(p.child, NULL, recv, 2));
	CALL(HELPER(rdma_post_sendv)(p.client, NULL, send, 2, 0));
	CALL(HELPER(rdma_get_send_comp)(p.client, &wc));
	CALL(HELPER(rdma_get_recv_comp)(p.child, &wc));
	say("length %u %.2s %s %s", wc.byte_len, in, in + 200, in + 202);
	CALL(HELPER(rdma_post_readv)(p.client, NULL, send, 1, 0, (uintptr_t)in, mr->rkey));
	CALL(HELPER(rdma_get_send_comp)(p.client, &wc));
	say("status %d opcode %d", wc.status, wc.opcode);
	CALL(HELPER(rdma_post_writev)(p.client, NULL, send, 2, 0, (uintptr_t)in, mr->rkey));
	CALL(HELPER(rdma_get_send_comp)(p.client, &wc));
	say("status %d", wc.status);
	ibv_dereg_mr(mo);
	ibv_dereg_mr(mi);
	ibv_dereg_mr(mr);
	pair_destroy(&p);
	return done();
}
