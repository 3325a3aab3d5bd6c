// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * rdma_create_ep on both sides, with queue pairs; requests get theirs.
 */
#include "trace.h"

static void *serve(void *arg)
{
	struct rdma_cm_id *child = NULL;

	MUST(rdma_get_request(arg, &child));
	MUST(rdma_accept(child, NULL));
	return child;
}

int main(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_family = AF_INET, .ai_port_space = RDMA_PS_TCP }, *res;
	struct rdma_cm_id *listener = NULL, *client = NULL, *child;
	pthread_t thread;

	MUST(rdma_getaddrinfo("10.77.0.1", "7471", &hints, &res));
	CALL(rdma_create_ep(&listener, res, NULL, qp_attr()));
	rdma_freeaddrinfo(res);
	name(listener, "listener");
	show_id(listener);
	CALL(rdma_listen(listener, 4));
	thread = background(serve, listener);
	hints.ai_flags = 0;
	MUST(rdma_getaddrinfo("10.77.0.1", "7471", &hints, &res));
	CALL(rdma_create_ep(&client, res, NULL, qp_attr()));
	rdma_freeaddrinfo(res);
	name(client, "client");
	show_id(client);
	CALL(rdma_connect(client, NULL));
	show_event(client->event);
	child = finish(thread);
	name(child, "child");
	show_id(child);
	VOID(rdma_destroy_ep(client));
	VOID(rdma_destroy_ep(child));
	VOID(rdma_destroy_ep(listener));
	return done();
}
