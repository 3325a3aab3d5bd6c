/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two processes, one message: the client sends three pieces of memory with one rdma_post_sendv, the
 * server finds them joined in its buffer.
 *
 *   sendv server ADDRESS [PORT]
 *   sendv client ADDRESS [PORT]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

enum { PIECES = 3, BUFFER = 256, DEPTH = 4, TIMEOUT_MS = 2000 };

static const char *const pieces[PIECES] = { "three pieces ", "of memory, ", "one message" };

static const char *role;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Waits for one event and insists on its type. */
static struct rdma_cm_id *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		fail("rdma_get_cm_event");
	printf("%s: event %s\n", role, rdma_event_str(event->event));
	if (event->event != type || event->status) {
		fprintf(stderr, "expected %s, status %d\n", rdma_event_str(type), event->status);
		exit(1);
	}
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static void make_queue_pair(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = PIECES,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	if (rdma_create_qp(id, NULL, &attr))
		fail("rdma_create_qp");
}

static void complete(int (*get)(struct rdma_cm_id *, struct ibv_wc *), struct rdma_cm_id *id,
		     struct ibv_wc *wc)
{
	if (get(id, wc) != 1)
		fail("waiting for a completion");
	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc->status));
		exit(1);
	}
}

static void serve(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
	struct rdma_cm_id *listener, *id;
	struct ibv_wc wc;
	struct ibv_mr *mr;
	static char buffer[BUFFER];

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP))
		fail("rdma_create_id");
	if (rdma_bind_addr(listener, (struct sockaddr *)address))
		fail("rdma_bind_addr");
	if (rdma_listen(listener, 1))
		fail("rdma_listen");
	printf("server: listening on port %d\n", ntohs(rdma_get_src_port(listener)));
	id = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_queue_pair(id);
	mr = rdma_reg_msgs(id, buffer, sizeof(buffer));
	if (!mr)
		fail("rdma_reg_msgs");
	if (rdma_post_recv(id, buffer, buffer, sizeof(buffer), mr))
		fail("rdma_post_recv");
	if (rdma_accept(id, NULL))
		fail("rdma_accept");
	expect(channel, RDMA_CM_EVENT_ESTABLISHED);
	complete(rdma_get_recv_comp, id, &wc);
	printf("server: received %u bytes: \"%.*s\"\n", wc.byte_len, (int)wc.byte_len, buffer);
	if (wc.wr_id != (uintptr_t)buffer) {
		fprintf(stderr, "the context did not come back\n");
		exit(1);
	}
	expect(channel, RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
}

static void send_pieces(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
	struct rdma_cm_id *id;
	struct ibv_sge list[PIECES];
	struct ibv_mr *mr[PIECES];
	struct ibv_wc wc;
	static char memory[PIECES][BUFFER];
	int i;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		fail("rdma_create_id");
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)address, TIMEOUT_MS))
		fail("rdma_resolve_addr");
	expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, TIMEOUT_MS))
		fail("rdma_resolve_route");
	expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_queue_pair(id);
	for (i = 0; i < PIECES; i++) {
		strcpy(memory[i], pieces[i]);
		mr[i] = rdma_reg_msgs(id, memory[i], BUFFER);
		if (!mr[i])
			fail("rdma_reg_msgs");
		list[i].addr = (uintptr_t)memory[i];
		list[i].length = strlen(memory[i]);
		list[i].lkey = mr[i]->lkey;
		printf("client: piece %d: \"%s\"\n", i + 1, memory[i]);
	}
	if (rdma_connect(id, NULL))
		fail("rdma_connect");
	expect(channel, RDMA_CM_EVENT_ESTABLISHED);
	if (rdma_post_sendv(id, list, list, PIECES, 0))
		fail("rdma_post_sendv");
	complete(rdma_get_send_comp, id, &wc);
	printf("client: sent, context %s\n", wc.wr_id == (uintptr_t)list ? "came back" : "is LOST");
	rdma_disconnect(id);
	expect(channel, RDMA_CM_EVENT_DISCONNECTED);
	for (i = 0; i < PIECES; i++)
		rdma_dereg_mr(mr[i]);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_event_channel *channel;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: %s server|client ADDRESS [PORT]\n", argv[0]);
		return 2;
	}
	role = argv[1];
	address.sin_port = htons(argc > 3 ? atoi(argv[3]) : 7471);
	channel = rdma_create_event_channel();
	if (!channel)
		fail("rdma_create_event_channel");
	if (strcmp(role, "server") == 0)
		serve(channel, &address);
	else
		send_pieces(channel, &address);
	rdma_destroy_event_channel(channel);
	printf("%s: done\n", role);
	return 0;
}
