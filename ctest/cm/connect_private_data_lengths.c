// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Private data of 0, 1, 56 and 255 bytes, with and without a pointer.
 */
#include "trace.h"

static const int lengths[] = { 0, 1, 56, 57, 255 };
static unsigned char bytes[256];

int main(void)
{
	struct rdma_event_channel *sc = channel(), *cc = channel();
	struct rdma_cm_id *listener = bound(sc, RDMA_PS_TCP, "10.77.0.1:7471");

	for (int i = 0; i < 256; i++)
		bytes[i] = (unsigned char)(i + 1);
	MUST(rdma_listen(listener, 8));
	name(listener, "listener");
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct rdma_cm_id *client = routed(cc, RDMA_PS_TCP, "10.77.0.1:7471");
		struct rdma_conn_param *p = param();

		p->private_data = bytes;
		p->private_data_len = (uint8_t)lengths[i];
		MUST(rdma_create_qp(client, NULL, qp_attr()));
		say("length %d", lengths[i]);
		if (CALL(rdma_connect(client, p)) == 0) {
			struct rdma_cm_event *e = next(sc);

			destroy_child(e);
		}
		rdma_destroy_qp(client);
		CALL(rdma_destroy_id(client));
	}
	CALL(rdma_destroy_id(listener));
	rdma_destroy_event_channel(sc);
	rdma_destroy_event_channel(cc);
	return done();
}
