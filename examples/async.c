/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A server that never waits for one client alone: it sleeps in
 * poll() on two descriptors, that of the connection events and that
 * of the completions, and does what each of them tells. The partner
 * is client.c, as many of them as you like.
 *
 *   async [ADDRESS [PORT]]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>

enum { CLIENTS = 64, BUFFER = 512 };

struct header {
	uint32_t number;
	uint32_t length;
};

/* A client: what the id's context points to. */
struct client {
	struct rdma_cm_id *id;
	struct ibv_mr *memory;
	int number;
	char in[BUFFER], out[BUFFER];
};

/* One completion queue for all; made with the first client, who
 * tells the device. */
static struct ibv_comp_channel *completions;
static struct ibv_cq *queue;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void make_queue(struct ibv_context *device)
{
	completions = ibv_create_comp_channel(device);
	queue = completions ? ibv_create_cq(device, 4 * CLIENTS, NULL,
	                                    completions, 0)
	                    : NULL;
	/* A completion makes the descriptor readable from here on. */
	if (!queue || ibv_req_notify_cq(queue, 0))
		fail("making the completion queue");
	fcntl(completions->fd, F_SETFL,
	      fcntl(completions->fd, F_GETFL) | O_NONBLOCK);
}

/* The work request's number tells the client, and in its last bit
 * whether it was a send. */
static int give_room(struct client *c)
{
	struct ibv_sge piece = { (uintptr_t)c->in, sizeof(c->in),
	                         c->memory->lkey };
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)c,
	                          .sg_list = &piece,
	                          .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_recv(c->id->qp, &wr, &bad);
}

static int send_answer(struct client *c, uint32_t length)
{
	struct ibv_sge piece = { (uintptr_t)c->out, length,
	                         c->memory->lkey };
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)c | 1,
		.sg_list = &piece,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;

	return ibv_post_send(c->id->qp, &wr, &bad);
}

static void take_completions(void);

static void leave(struct client *c)
{
	printf("async: client %d has left\n", c->number);
	if (c->id->qp) {
		rdma_destroy_qp(c->id);
		/* The queue may still hold completions that name this
		 * client. */
		take_completions();
	}
	if (c->memory)
		ibv_dereg_mr(c->memory);
	rdma_destroy_id(c->id);
	free(c);
}

/* A request makes a new id; everything of its connection hangs on
 * that. */
static void welcome(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 2, .max_recv_wr = 2,
		         .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_conn_param answer = { .rnr_retry_count = 7 };
	static int clients;
	struct client *c = calloc(1, sizeof(*c));

	if (!queue)
		make_queue(id->verbs);
	if (!c)
		fail("calloc");
	id->context = c;
	c->id = id;
	c->number = ++clients;
	queues.send_cq = queues.recv_cq = queue;
	if (rdma_create_qp(id, NULL, &queues) ||
	    !(c->memory = ibv_reg_mr(id->pd, c, sizeof(*c),
	                             IBV_ACCESS_LOCAL_WRITE)) ||
	    give_room(c) || rdma_accept(id, &answer)) {
		perror("a client is turned away");
		rdma_reject(id, NULL, 0);
		leave(c);
	}
}

/* Takes the events that are there. An event's id cannot be destroyed
 * before the event was given back. */
static void connection_events(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(channel, &event)) {
		enum rdma_cm_event_type type = event->event;
		struct rdma_cm_id *id = event->id;

		rdma_ack_cm_event(event);
		switch (type) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			welcome(id);
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
			printf("async: client %d is connected\n",
			       ((struct client *)id->context)->number);
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			/* The client said it first: this is the answer. */
			rdma_disconnect(id);
			leave(id->context);
			break;
		default:
			printf("async: %s\n", rdma_event_str(type));
		}
	}
	if (errno != EAGAIN)
		fail("rdma_get_cm_event");
}

static void message(struct client *c, uint32_t bytes)
{
	struct header in, out;
	int length;

	memcpy(&in, c->in, sizeof(in));
	/* The client's last: its DISCONNECTED event follows. */
	if (!in.length)
		return;
	printf("async: client %d, message %u: %.*s\n", c->number,
	       ntohl(in.number), (int)(bytes - sizeof(in)),
	       c->in + sizeof(in));
	length = snprintf(c->out + sizeof(out), 64, "%u bytes came",
	                  bytes);
	out = (struct header){ in.number, htonl((uint32_t)length) };
	memcpy(c->out, &out, sizeof(out));
	if (give_room(c) ||
	    send_answer(c, (uint32_t)sizeof(out) + (uint32_t)length))
		printf("async: client %d gets no answer\n", c->number);
}

static void take_completions(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(queue, 1, &wc) > 0) {
		struct client *c =
			(struct client *)(uintptr_t)(wc.wr_id & ~1ULL);
		int is_receive = !(wc.wr_id & 1);

		/* A flushed request is one of a client who leaves: the
		 * DISCONNECTED event comes, too. */
		if (wc.status == IBV_WC_SUCCESS && is_receive && c->id->qp &&
		    wc.byte_len >= sizeof(struct header))
			message(c, wc.byte_len);
	}
}

static void completion_events(void)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(completions, &cq, &context))
		return;
	ibv_ack_cq_events(cq, 1);
	/* Asked for again before the queue is emptied: what comes
	 * between makes a new event. */
	if (ibv_req_notify_cq(cq, 0))
		fail("ibv_req_notify_cq");
	take_completions();
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE,
	                               .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *found;
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!channel)
		fail("rdma_create_event_channel");
	if (rdma_getaddrinfo(argc > 1 ? argv[1] : NULL,
	                     argc > 2 ? argv[2] : "7471", &hints,
	                     &found))
		fail("rdma_getaddrinfo");
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, found->ai_src_addr) ||
	    rdma_listen(listener, CLIENTS))
		fail("listening");
	rdma_freeaddrinfo(found);
	fcntl(channel->fd, F_SETFL,
	      fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	printf("async: listening on port %u\n",
	       ntohs(rdma_get_src_port(listener)));
	for (;;) {
		struct pollfd fds[] = {
			{ channel->fd, POLLIN, 0 },
			{ completions ? completions->fd : -1, POLLIN, 0 },
		};

		if (poll(fds, 2, -1) < 0)
			fail("poll");
		if (fds[0].revents)
			connection_events(channel);
		if (fds[1].revents)
			completion_events();
	}
}
