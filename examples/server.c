/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A server of messages, the short way: an endpoint instead of
 * separate steps, and one thread that waits in each call. The
 * partner is client.c; async.c serves the same clients, many at
 * once.
 *
 *   server [ADDRESS [PORT]]
 *
 * A message is a header and a text. They lie apart in memory: one
 * work request gathers both when it sends (rdma_post_sendv) and
 * spreads them again when it receives (rdma_post_recvv). A message
 * without a text is the client's last: no completion tells that the
 * other side has gone, only an event does. So a client who dies
 * without a word keeps this server waiting; async.c hears of it. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

struct header {
	/* In network byte order, like every integer on a wire. */
	uint32_t number, length;
};

struct message {
	struct header header;
	char text[256];
	struct ibv_mr *header_memory, *text_memory;
	struct ibv_sge pieces[2];
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The device reads and writes registered memory only, and knows it
 * by its key. */
static void prepare(struct message *m, struct rdma_cm_id *id)
{
	m->header_memory = rdma_reg_msgs(id, &m->header,
	                                 sizeof(m->header));
	m->text_memory = rdma_reg_msgs(id, m->text, sizeof(m->text));
	if (!m->header_memory || !m->text_memory)
		fail("rdma_reg_msgs");
	m->pieces[0].addr = (uintptr_t)&m->header;
	m->pieces[0].length = sizeof(m->header);
	m->pieces[0].lkey = m->header_memory->lkey;
	m->pieces[1].addr = (uintptr_t)m->text;
	m->pieces[1].length = sizeof(m->text);
	m->pieces[1].lkey = m->text_memory->lkey;
}

static void forget(struct message *m)
{
	rdma_dereg_mr(m->header_memory);
	rdma_dereg_mr(m->text_memory);
}

static void serve(struct rdma_cm_id *id)
{
	struct message in = { 0 }, out = { 0 };
	struct ibv_wc done;
	int length;

	prepare(&in, id);
	prepare(&out, id);
	/* First the room, then the connection: a message that finds no
	 * room is an error. */
	if (rdma_post_recvv(id, &in, in.pieces, 2))
		fail("rdma_post_recvv");
	if (rdma_accept(id, NULL))
		fail("rdma_accept");
	/* Each request that was posted comes back as a completion. */
	while (rdma_get_recv_comp(id, &done) == 1 &&
	       done.status == IBV_WC_SUCCESS && in.header.length) {
		printf("server: message %u: %.*s\n", ntohl(in.header.number),
		       (int)ntohl(in.header.length) & 255, in.text);
		out.header.number = in.header.number;
		length = snprintf(out.text, sizeof(out.text),
		                  "%u bytes came", done.byte_len);
		out.header.length = htonl((uint32_t)length);
		out.pieces[1].length = (uint32_t)length;
		/* Room for the next one before the answer makes the client
		 * send it. */
		if (rdma_post_recvv(id, &in, in.pieces, 2))
			fail("rdma_post_recvv");
		if (rdma_post_sendv(id, &out, out.pieces, 2,
		                    IBV_SEND_SIGNALED))
			fail("rdma_post_sendv");
		/* Until then the memory of the answer is the device's. */
		if (rdma_get_send_comp(id, &done) != 1 ||
		    done.status != IBV_WC_SUCCESS)
			break;
	}
	/* Both sides say it; the connection has ended when both have. */
	rdma_disconnect(id);
	forget(&in);
	forget(&out);
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE,
	                               .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *found;
	/* What the queue pair of each connection shall have. */
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
		         .max_send_sge = 2, .max_recv_sge = 2 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_cm_id *listener, *id;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rdma_getaddrinfo(argc > 1 ? argv[1] : NULL,
	                     argc > 2 ? argv[2] : "7471", &hints,
	                     &found))
		fail("rdma_getaddrinfo");
	if (rdma_create_ep(&listener, found, NULL, &queues))
		fail("rdma_create_ep");
	rdma_freeaddrinfo(found);
	if (rdma_listen(listener, 8))
		fail("rdma_listen");
	printf("server: listening on port %u\n",
	       ntohs(rdma_get_src_port(listener)));
	/* An endpoint for each client, with its queue pair. */
	while (!rdma_get_request(listener, &id)) {
		serve(id);
		rdma_destroy_ep(id);
		printf("server: a client has left\n");
	}
	fail("rdma_get_request");
}
