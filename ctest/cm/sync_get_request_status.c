// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: a positive status becomes a negative errno
 * A request whose event has a status: the errno is above zero for each sign.
 */
#include "trace.h"

static const int statuses[] = { 28, -110 };

int main(void)
{
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_id *id = bound(NULL, RDMA_PS_TCP, "10.77.0.1:7471"), *child = NULL;

		MUST(rdma_listen(id, 1));
		inject(id->channel, RDMA_CM_EVENT_CONNECT_REQUEST, statuses[i]);
		CALL(rdma_get_request(id, &child));
		say("child %s", child ? "given" : "none");
		CALL(rdma_destroy_id(id));
	}
	return done();
}
