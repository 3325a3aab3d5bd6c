// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-18
 * The helpers with NULL for the id, its queue pair, queues or regions: -1 and EINVAL.
 */
#include "trace.h"

static char buffer[64];

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = addressed(ch, RDMA_PS_TCP, "10.77.0.1:7000"), *fresh = new_id(ch, RDMA_PS_TCP);
	struct ibv_wc wc;
	struct rdma_cm_id *const ids[] = { NULL, fresh, id };

	for (int i = 0; i < 3; i++) {
		say("%s", i == 0 ? "NULL" : i == 1 ? "without a device" : "without a queue pair");
		if (i < 2) {
			POINTER(HELPER(rdma_reg_msgs)(ids[i], buffer, 64));
			POINTER(HELPER(rdma_reg_read)(ids[i], buffer, 64));
			POINTER(HELPER(rdma_reg_write)(ids[i], buffer, 64));
		}
		CALL(HELPER(rdma_post_recvv)(ids[i], NULL, NULL, 0));
		CALL(HELPER(rdma_post_sendv)(ids[i], NULL, NULL, 0, 0));
		CALL(HELPER(rdma_post_readv)(ids[i], NULL, NULL, 0, 0, 0, 0));
		CALL(HELPER(rdma_post_writev)(ids[i], NULL, NULL, 0, 0, 0, 0));
		CALL(HELPER(rdma_post_recv)(ids[i], NULL, buffer, 64, NULL));
		CALL(HELPER(rdma_post_send)(ids[i], NULL, buffer, 64, NULL, 0));
		CALL(HELPER(rdma_post_read)(ids[i], NULL, buffer, 64, NULL, 0, 0, 0));
		CALL(HELPER(rdma_post_write)(ids[i], NULL, buffer, 64, NULL, 0, 0, 0));
		CALL(HELPER(rdma_post_ud_send)(ids[i], NULL, buffer, 64, NULL, 0, NULL, 0));
		CALL(HELPER(rdma_get_send_comp)(ids[i], &wc));
		CALL(HELPER(rdma_get_recv_comp)(ids[i], &wc));
		CALL(HELPER(rdma_get_recv_comp)(ids[i], NULL));
	}
	CALL(HELPER(rdma_dereg_mr)(NULL));
	CALL(rdma_destroy_id(id));
	CALL(rdma_destroy_id(fresh));
	rdma_destroy_event_channel(ch);
	return done();
}
