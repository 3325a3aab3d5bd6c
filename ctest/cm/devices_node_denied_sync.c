// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: errno is another one
 * fake: fail node nth=2 errno=EMFILE always
 * fake: fail chardev errno=EMFILE always
 * The errno of the open survives in a synchronous id too.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;

	CALL(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	if (ch)
		rdma_destroy_event_channel(ch);
	return done();
}
