/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program in whose code helpers stand that it does not call, as with the C library's header: they are no
 * symbols, even unoptimised.
 */
#include <rdma/rdma_verbs.h>

int main(int argc, char **argv)
{
	struct ibv_wc wc;

	(void)argv;
	if (argc > 5)
		return rdma_post_send(0, 0, 0, 0, 0, 0) + rdma_get_send_comp(0, &wc) + (rdma_get_local_addr(0) != 0) +
		       (rdma_reg_msgs(0, 0, 0) != 0);
	return 0;
}
