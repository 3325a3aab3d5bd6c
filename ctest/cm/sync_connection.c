// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Synchronous listener and client from beginning to end.
 */
#include "trace.h"

static void *serve(void *arg)
{
	struct rdma_cm_id *listener = arg, *child = NULL;

	MUST(rdma_get_request(listener, &child));
	MUST(rdma_create_qp(child, NULL, qp_attr()));
	MUST(rdma_accept(child, param()));
	return child;
}

static void *end(void *id)
{
	return rdma_disconnect(id) ? "failed" : "ended";
}

int main(void)
{
	struct rdma_cm_id *listener = bound(NULL, RDMA_PS_TCP, "10.77.0.1:7471"), *client, *child;
	pthread_t thread;

	name(listener, "listener");
	CALL(rdma_listen(listener, 4));
	thread = background(serve, listener);
	client = routed(NULL, RDMA_PS_TCP, "10.77.0.1:7471");
	name(client, "client");
	CALL(rdma_create_qp(client, NULL, qp_attr()));
	CALL(rdma_connect(client, param()));
	show_event(client->event);
	child = finish(thread);
	name(child, "child");
	show_event(child->event);
	show_id(child);
	say("child's own channel: %s", child->channel != listener->channel ? "yes" : "no");
	thread = background(end, client);
	usleep(100000);
	CALL(rdma_disconnect(child));
	say("client %s", (char *)finish(thread));
	show_event(client->event);
	show_event(child->event);
	rdma_destroy_qp(client);
	rdma_destroy_qp(child);
	CALL(rdma_destroy_id(client));
	CALL(rdma_destroy_id(child));
	CALL(rdma_destroy_id(listener));
	return done();
}
