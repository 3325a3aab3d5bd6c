// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An id without a channel gets one of its own, which goes with it.
 */
#include "trace.h"

int main(void)
{
	struct rdma_cm_id *id = NULL;

	CALL(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	name(id, "id");
	show_id(id);
	say("channel %s", id->channel ? "yes" : "no");
	CALL(fcntl(id->channel->fd, F_GETFD));
	CALL(rdma_destroy_id(id));
	return done();
}
