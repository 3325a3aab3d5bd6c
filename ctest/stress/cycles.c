// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Thousands of connections one after the other, asynchronous and synchronous, then
 * the same number of descriptors, heap bytes and kernel objects as after the first hundred.
 */
#include "stress.h"

#include <malloc.h>

static size_t heap(void)
{
	return mallinfo2().uordblks;
}

static void cycle(int i)
{
	struct pair p;

	if (i % 10 == 9) {
		/* Rejected. */
		pair_request(&p, RDMA_PS_TCP);
		CHECK(!rdma_reject(p.child, "no", 2));
		expect_and_ack(p.active, RDMA_CM_EVENT_REJECTED);
	} else {
		pair_connect(&p);
		CHECK(!rdma_disconnect(p.client));
		expect_and_ack(p.passive, RDMA_CM_EVENT_DISCONNECTED);
		CHECK(!rdma_disconnect(p.child));
		expect_and_ack(p.active, RDMA_CM_EVENT_DISCONNECTED);
	}
	pair_destroy(&p);
	if (i % 4 == 0) {
		struct rdma_cm_id *id = routed(NULL, RDMA_PS_TCP, "10.77.0.1:7000");

		CHECK(!rdma_create_qp(id, NULL, qp_attr()));
		rdma_destroy_qp(id);
		CHECK(!rdma_destroy_id(id));
	}
}

int main(void)
{
	int fds = 0, n = rounds(10000);
	size_t bytes = 0;

	for (int i = 0; i < n; i++) {
		cycle(i);
		if (i == 99) {
			fds = open_files();
			bytes = heap();
		}
	}
	if (n > 100) {
		CHECK(open_files() == fds);
		/* Tables may have grown once; a leak would be a hundred bytes for each cycle at least. */
		CHECK(heap() <= bytes + (size_t)n * 2);
		fprintf(stderr, "%d cycles: %d descriptors, heap %+ld bytes\n", n, open_files(), (long)(heap() - bytes));
	}
	return end("cycles");
}
