/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A second file of the same program: inline code in several files must not clash. With OTHER_EXPORTED it asks
 * for the exported functions.
 */
#ifdef OTHER_EXPORTED
#define RDMACM_EXPORTED_HELPERS
#endif
#include "stub.h"

int post_from_other_file(int which, struct ibv_sge *list, struct ibv_mr *mr)
{
	struct rdma_cm_id *id = &stub.id;
	void *context = (void *)0x77;

	switch (which) {
	case 0: return rdma_post_recvv(id, context, list, 2);
	case 1: return rdma_post_sendv(id, context, list, 2, IBV_SEND_SIGNALED);
	case 2: return rdma_post_readv(id, context, list, 2, IBV_SEND_FENCE, 0x1234567890ULL, 0x55);
	case 3: return rdma_post_writev(id, context, list, 2, IBV_SEND_SOLICITED, 0x1234567890ULL, 0x55);
	case 4: return rdma_post_recv(id, context, mr->addr, 16, mr);
	case 5: return rdma_post_send(id, context, mr->addr, 16, NULL, IBV_SEND_INLINE);
	case 6: return rdma_post_read(id, context, mr->addr, 16, mr, 0, 0x1234567890ULL, 0x55);
	case 7: return rdma_post_write(id, context, mr->addr, 16, mr, 0, 0x1234567890ULL, 0x55);
	default: return rdma_post_ud_send(id, context, mr->addr, 16, mr, 0, (struct ibv_ah *)0x99, 0x66);
	}
}

const struct table other_table = TABLE;
#ifdef RDMACM_EXPORTED_HELPERS
const int other_is_exported = 1;
#else
const int other_is_exported = 0;
#endif
