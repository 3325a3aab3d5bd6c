// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A synchronous connect that is rejected: ECONNREFUSED and the event.
 */
#include "trace.h"

static void *serve(void *arg)
{
	struct rdma_cm_id *child = NULL;

	MUST(rdma_get_request(arg, &child));
	MUST(rdma_reject(child, "no", 2));
	MUST(rdma_destroy_id(child));
	return NULL;
}

int main(void)
{
	struct rdma_cm_id *listener = bound(NULL, RDMA_PS_TCP, "10.77.0.1:7471"), *client;
	pthread_t thread;

	MUST(rdma_listen(listener, 4));
	thread = background(serve, listener);
	client = routed(NULL, RDMA_PS_TCP, "10.77.0.1:7471");
	name(client, "client");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	CALL(rdma_connect(client, param()));
	show_event(client->event);
	finish(thread);
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id(client));
	CALL(rdma_destroy_id(listener));
	return done();
}
