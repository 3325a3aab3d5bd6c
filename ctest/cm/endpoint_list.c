// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-28
 * All entries of the list are tried, not only the first one.
 */
#include "trace.h"

int main(void)
{
	struct rdma_addrinfo hints = { .ai_family = AF_INET, .ai_port_space = RDMA_PS_TCP }, *bad, *good;
	struct rdma_cm_id *id = NULL;

	MUST(rdma_getaddrinfo("10.99.0.1", "7471", &hints, &bad));
	MUST(rdma_getaddrinfo("10.77.0.1", "7471", &hints, &good));
	bad->ai_next = good;
	CALL(rdma_create_ep(&id, bad, NULL, NULL));
	if (id) {
		show_addr("dst", rdma_get_peer_addr(id));
		rdma_destroy_ep(id);
	}
	bad->ai_next = NULL;
	rdma_freeaddrinfo(bad);
	rdma_freeaddrinfo(good);
	return done();
}
