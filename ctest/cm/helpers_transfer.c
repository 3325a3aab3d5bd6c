// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Registering, posting and completing through the helpers: send, write, read, with inline data.
 */
#include "trace.h"

static char out[4096], in[4096];

int main(void)
{
	struct ibv_mr *mo, *mi, *mr;
	struct ibv_wc wc;
	struct pair p;

	pair_connect(&p);
	POINTER(mo = HELPER(rdma_reg_msgs)(p.client, out, sizeof(out)));
	POINTER(mi = HELPER(rdma_reg_msgs)(p.child, in, sizeof(in)));
	POINTER(mr = HELPER(rdma_reg_write)(p.child, in, sizeof(in)));
	strcpy(out, "message");
	CALL(HELPER(rdma_post_recv)(p.child, in, in, 64, mi));
	CALL(HELPER(rdma_post_send)(p.client, out, out, 8, mo, 0));
	CALL(HELPER(rdma_get_send_comp)(p.client, &wc));
	say("status %d opcode %d id %d", wc.status, wc.opcode, wc.wr_id == (uintptr_t)out);
	CALL(HELPER(rdma_get_recv_comp)(p.child, &wc));
	say("status %d opcode %d length %u id %d '%s'", wc.status, wc.opcode, wc.byte_len, wc.wr_id == (uintptr_t)in, in);
	strcpy(out, "written");
	CALL(HELPER(rdma_post_write)(p.client, NULL, out, 8, mo, 0, (uintptr_t)in + 100, mr->rkey));
	CALL(HELPER(rdma_get_send_comp)(p.client, &wc));
	say("status %d '%s'", wc.status, in + 100);
	CALL(HELPER(rdma_post_recv)(p.child, in, in, 64, mi));
	CALL(HELPER(rdma_post_send)(p.client, NULL, out, 8, NULL, IBV_SEND_INLINE));
	CALL(HELPER(rdma_get_send_comp)(p.client, &wc));
	say("status %d", wc.status);
	CALL(HELPER(rdma_dereg_mr)(mo));
	CALL(HELPER(rdma_dereg_mr)(mi));
	CALL(HELPER(rdma_dereg_mr)(mr));
	pair_destroy(&p);
	return done();
}
