/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A client of messages: the partner of server.c (see there what a
 * message is) and of async.c.
 *
 *   client ADDRESS [PORT [TEXT...]]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

/* How long a server that is just starting is waited for. */
enum { TRIES = 50, TRY_MS = 100 };

struct header {
	uint32_t number;
	uint32_t length;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Connects, or gives NULL with an errno. A try needs an endpoint of
 * its own: a refused one is used up. */
static struct rdma_cm_id *try_once(struct rdma_addrinfo *server)
{
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
		         .max_send_sge = 2, .max_recv_sge = 2 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_cm_id *id;
	int why;

	if (rdma_create_ep(&id, server, NULL, &queues))
		return NULL;
	if (!rdma_connect(id, NULL))
		return id;
	why = errno;
	rdma_destroy_ep(id);
	errno = why;
	return NULL;
}

static struct rdma_cm_id *open_connection(const char *address,
                                          const char *port)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *server;
	struct rdma_cm_id *id = NULL;

	if (rdma_getaddrinfo(address, port, &hints, &server))
		fail("rdma_getaddrinfo");
	for (int i = 0; i < TRIES && !(id = try_once(server)); i++) {
		/* Nobody listens there (yet). */
		if (errno != ECONNREFUSED)
			break;
		usleep(TRY_MS * 1000);
	}
	if (!id)
		fail("connecting");
	rdma_freeaddrinfo(server);
	return id;
}

static struct ibv_mr *registered(struct rdma_cm_id *id, void *memory,
                                 size_t size)
{
	struct ibv_mr *mr = rdma_reg_msgs(id, memory, size);

	if (!mr)
		fail("rdma_reg_msgs");
	return mr;
}

static struct ibv_sge piece(const void *memory, size_t size,
                            const struct ibv_mr *mr)
{
	return (struct ibv_sge){ .addr = (uintptr_t)memory,
	                         .length = (uint32_t)size,
	                         .lkey = mr->lkey };
}

static void completed(const char *what, struct rdma_cm_id *id,
                      int (*get)(struct rdma_cm_id *,
                                 struct ibv_wc *))
{
	struct ibv_wc done;

	if (get(id, &done) != 1)
		fail(what);
	if (done.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "%s: %s\n", what,
		        ibv_wc_status_str(done.status));
		exit(1);
	}
}

/* Sends a text and waits for the answer. */
static void ask(struct rdma_cm_id *id, uint32_t number, char *text)
{
	struct header to = { .number = htonl(number) }, from;
	char answer[256];
	struct ibv_mr *mr[] = {
		registered(id, &to, sizeof(to)),
		registered(id, text, strlen(text) + 1),
		registered(id, &from, sizeof(from)),
		registered(id, answer, sizeof(answer)),
	};
	struct ibv_sge out[] = { piece(&to, sizeof(to), mr[0]),
	                         piece(text, strlen(text), mr[1]) };
	struct ibv_sge in[] = { piece(&from, sizeof(from), mr[2]),
	                        piece(answer, sizeof(answer), mr[3]) };

	to.length = htonl((uint32_t)strlen(text));
	/* The room for the answer comes first: it may be quicker than
	 * the next line. */
	if (rdma_post_recvv(id, NULL, in, 2))
		fail("rdma_post_recvv");
	if (rdma_post_sendv(id, NULL, out, 2, IBV_SEND_SIGNALED))
		fail("rdma_post_sendv");
	completed("sending", id, rdma_get_send_comp);
	completed("receiving", id, rdma_get_recv_comp);
	printf("client: answer %u: %.*s\n", ntohl(from.number),
	       (int)ntohl(from.length) & 255, answer);
	for (int i = 0; i < 4; i++)
		rdma_dereg_mr(mr[i]);
}

/* A message without a text, and the end, for which the server calls
 * rdma_disconnect, too. */
static void leave(struct rdma_cm_id *id)
{
	struct header last = { 0 };
	struct ibv_mr *mr = registered(id, &last, sizeof(last));

	if (rdma_post_send(id, NULL, &last, sizeof(last), mr,
	                   IBV_SEND_SIGNALED))
		fail("rdma_post_send");
	completed("sending", id, rdma_get_send_comp);
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
}

int main(int argc, char **argv)
{
	char hello[] = "hello", bye[] = "good bye";
	char over[] = "two pieces of memory, one message";
	char *texts[] = { hello, over, bye };
	struct rdma_cm_id *id;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2) {
		fprintf(stderr, "usage: %s ADDRESS [PORT [TEXT...]]\n",
		        argv[0]);
		return 2;
	}
	id = open_connection(argv[1], argc > 2 ? argv[2] : "7471");
	if (argc > 3) {
		for (int i = 3; i < argc; i++)
			ask(id, (uint32_t)i - 2, argv[i]);
	} else {
		for (uint32_t i = 0; i < 3; i++)
			ask(id, i + 1, texts[i]);
	}
	leave(id);
	return 0;
}
