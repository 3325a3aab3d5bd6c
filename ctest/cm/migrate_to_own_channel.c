// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A synchronous id, moved to the channel that it already has: that would be freed under it.
 * differs: the C library frees the channel that the id then uses
 * theirs: varies
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id;

	CALL(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_migrate_id(id, id->channel));
	CALL(rdma_destroy_id(id));
	return done();
}
