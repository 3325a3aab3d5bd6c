// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A datagram request where nobody listens.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_UDP, "10.77.0.1:7999");

	name(id, "id");
	CALL(rdma_connect(id, param()));
	take(ch);
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
