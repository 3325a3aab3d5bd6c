// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Private data of the answer, and of a rejection, of all lengths.
 */
#include "trace.h"

static const int lengths[] = { 0, 1, 148, 149, 196, 197, 255 };
static unsigned char bytes[256];

int main(void)
{
	struct pair p;

	for (int i = 0; i < 256; i++)
		bytes[i] = (unsigned char)(255 - i);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct rdma_conn_param *with = param();

		say("length %d", lengths[i]);
		pair_request(&p, RDMA_PS_TCP);
		MUST(rdma_create_qp(p.child, NULL, qp_attr()));
		with->private_data = bytes;
		with->private_data_len = (uint8_t)lengths[i];
		if (CALL(rdma_accept(p.child, with)) == 0) {
			take(p.active);
			take(p.passive);
		}
		pair_destroy(&p);
		pair_request(&p, RDMA_PS_TCP);
		if (CALL(rdma_reject(p.child, bytes, (uint8_t)lengths[i])) == 0)
			take(p.active);
		pair_destroy(&p);
	}
	return done();
}
