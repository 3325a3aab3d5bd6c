/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A client that waits for a message and hears of it when the server
 * goes. A wait for a completion does not end by itself when the peer
 * disconnects or dies: only an event tells. So a thread reads the
 * events and disconnects this side, too; then every request that was
 * posted completes, as flushed. The partner is server.c, who says
 * nothing before he is asked: end him with Ctrl-C.
 *
 *   watch ADDRESS [PORT]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Until the connection has ended. */
static void *read_events(void *channel)
{
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(channel, &event)) {
		enum rdma_cm_event_type type = event->event;
		struct rdma_cm_id *id = event->id;

		printf("watch: %s\n", rdma_event_str(type));
		rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_DISCONNECTED ||
		    type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
			/* The queue pair flushes its requests now. */
			rdma_disconnect(id);
			return NULL;
		}
	}
	return NULL;
}

static struct rdma_cm_id *open_connection(const char *address,
                                          const char *port)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *server;
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
		         .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(address, port, &hints, &server))
		fail("rdma_getaddrinfo");
	if (rdma_create_ep(&id, server, NULL, &queues))
		fail("rdma_create_ep");
	rdma_freeaddrinfo(server);
	if (rdma_connect(id, NULL))
		fail("rdma_connect");
	return id;
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	static char text[256];
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc done;
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2) {
		fprintf(stderr, "usage: %s ADDRESS [PORT]\n", argv[0]);
		return 2;
	}
	if (!channel)
		fail("rdma_create_event_channel");
	id = open_connection(argv[1], argc > 2 ? argv[2] : "7471");
	mr = rdma_reg_msgs(id, text, sizeof(text));
	if (!mr || rdma_post_recv(id, NULL, text, sizeof(text), mr))
		fail("rdma_post_recv");
	/* A synchronous id reads events in its own calls only; from here
	 * on the channel has them. */
	if (rdma_migrate_id(id, channel))
		fail("rdma_migrate_id");
	if (pthread_create(&thread, NULL, read_events, channel))
		fail("pthread_create");
	printf("watch: waiting\n");
	if (rdma_get_recv_comp(id, &done) != 1)
		fail("rdma_get_recv_comp");
	printf("watch: %s\n", ibv_wc_status_str(done.status));
	pthread_join(thread, NULL);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
