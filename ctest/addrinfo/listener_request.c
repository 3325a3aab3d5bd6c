// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A synchronous listener waits for something else while a request comes in: the peer is rejected, and
 * neither id nor channel of the request is left behind.
 * differs: the request is lost in the C library
 * theirs: absent
 */
#include "resolve.h"

#define TRACE(call) trace_result(#call, call)

static void next_event(struct rdma_event_channel *channel)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&ready, 1, 2000) != 1 || rdma_get_cm_event(channel, &event)) {
		printf("no event\n");
		return;
	}
	printf("event %d status %d\n", event->event, event->status);
	rdma_ack_cm_event(event);
}

int main(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7005) };
	struct rdma_event_channel *channel;
	struct rdma_conn_param param = { .qp_num = 1 };
	struct rdma_cm_id *listener, *client;

	need_resolve();
	to.sin_addr.s_addr = htonl(0x0a4d0001);
	channel = rdma_create_event_channel();
	TRACE(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP));
	TRACE(rdma_bind_addr(listener, (struct sockaddr *)&to));
	TRACE(rdma_listen(listener, 5));
	TRACE(rdma_create_id(channel, &client, NULL, RDMA_PS_TCP));
	TRACE(rdma_resolve_addr(client, NULL, (struct sockaddr *)&to, 1000));
	next_event(channel);
	TRACE(rdma_resolve_route(client, 1000));
	next_event(channel);
	TRACE(rdma_connect(client, &param));
	TRACE(rdma_resolve_addrinfo(listener, "10.77.0.1", "7000", NULL));
	next_event(channel);
	TRACE(rdma_destroy_id(client));
	TRACE(rdma_destroy_id(listener));
	return 0;
}
