// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * bind to addresses of families that rdma_cm does not know, and to foreign addresses.
 */
#include "trace.h"

static const unsigned short families[] = { AF_UNSPEC, AF_UNIX, 12, AF_PACKET, 255 };

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);
	struct sockaddr_storage other;

	for (unsigned i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		memset(&other, 0, sizeof(other));
		other.ss_family = families[i];
		say("family %d", families[i]);
		CALL(rdma_bind_addr(id, (struct sockaddr *)&other));
	}
	CALL(rdma_bind_addr(id, addr("10.99.0.1:7000")));
	CALL(rdma_bind_addr(id, addr("[fd00:99::1]:7000")));
	CALL(rdma_bind_addr(id, addr("10.77.0.1:7000")));
	CALL(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
	return done();
}
