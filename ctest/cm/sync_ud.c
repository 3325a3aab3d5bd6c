// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: the event of the accepted id is never given back
 * A synchronous datagram server: after accept its event is given back, so the listener can go.
 * theirs: hangs
 */
#include "trace.h"

static void *serve(void *arg)
{
	struct rdma_cm_id *child = NULL;
	struct rdma_conn_param *p = param();

	MUST(rdma_get_request(arg, &child));
	p->qp_num = 5;
	MUST(rdma_accept(child, p));
	return child;
}

int main(void)
{
	struct rdma_cm_id *listener = bound(NULL, RDMA_PS_UDP, "10.77.0.1:7471"), *client, *child;
	pthread_t thread;

	MUST(rdma_listen(listener, 4));
	thread = background(serve, listener);
	client = routed(NULL, RDMA_PS_UDP, "10.77.0.1:7471");
	name(client, "client");
	CALL(rdma_connect(client, param()));
	show_event(client->event);
	child = finish(thread);
	say("child's event %s", child->event ? "kept" : "gone");
	CALL(rdma_destroy_id(listener));
	CALL(rdma_destroy_id(child));
	CALL(rdma_destroy_id(client));
	return done();
}
