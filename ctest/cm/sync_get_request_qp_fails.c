// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * differs: C-11
 * An endpoint whose queue pair for a request cannot be made: the peer is rejected, nothing leaks.
 */
#include "trace.h"

static void *connect_to(void *arg)
{
	struct rdma_cm_id *client = arg;

	errno = 0;
	if (!rdma_connect(client, param()))
		return "connected";
	return errno == ECONNREFUSED ? "refused" : "failed";
}

int main(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_family = AF_INET, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *res;
	struct rdma_cm_id *listener, *child = NULL, *client;
	pthread_t thread;

	MUST(rdma_getaddrinfo("10.77.0.1", "7471", &hints, &res));
	MUST(rdma_create_ep(&listener, res, NULL, qp_attr()));
	rdma_freeaddrinfo(res);
	MUST(rdma_listen(listener, 4));
	client = routed(NULL, RDMA_PS_TCP, "10.77.0.1:7471");
	MUST(rdma_create_qp(client, NULL, qp_attr()));
	thread = background(connect_to, client);
	fake("verbs create_qp errno=ENOSPC");
	CALL(rdma_get_request(listener, &child));
	say("child %s", child ? "given" : "none");
	say("peer %s", (char *)finish(thread));
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id(client));
	VOID(rdma_destroy_ep(listener));
	return done();
}
