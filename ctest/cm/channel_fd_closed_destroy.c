// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The application closed the descriptor of the channel: destroying the id still frees its memory and
 * says EBADF, and destroying the channel closes nobody else's file.
 */
#include "trace.h"

int main(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	close(ch->fd);
	CALL(rdma_destroy_id(id));
	VOID(rdma_destroy_event_channel(ch));
	return done();
}
