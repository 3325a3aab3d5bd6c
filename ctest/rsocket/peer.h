// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A peer made of verbs, which speaks the stream protocol and may break it. */
#ifndef PEER_H
#define PEER_H

#include "check.h"
#include "hello.h"
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

enum { HALF = 65536, RECEIVES = 300, PILE = 4000, DATA = 0, CREDIT = 4u << 29, IOMAP = 6u << 29, CONTROL = 7u << 29 };

static struct peer {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_mr *region;
	struct hello own, other;
	/* What the other side writes: its entries, then the buffer. Then what we write from. */
	struct entry list[2];
	char buffer[4 * HALF];
	char from[4 * HALF];
	/* Where messages come as data. */
	uint32_t messages[RECEIVES], said[PILE];
	int is_iwarp;
} peer;

static char in[4 * HALF];
static int port = 7800, listening = -1, fd = -1;
/* How many receives the peer posts of those that it offers. */
static int posted = RECEIVES;

static void must(int good, const char *what)
{
	if (good)
		return;
	printf("not-ok R-9 %s: %s\n", what, errno_name(errno));
	fflush(stdout);
	_exit(2);
}

static void await(enum rdma_cm_event_type type, struct hello *data)
{
	struct rdma_cm_event *event;

	must(!rdma_get_cm_event(peer.channel, &event), "event");
	must(event->event == type, rdma_event_str(event->event));
	if (data)
		memcpy(data, event->param.conn.private_data, sizeof *data);
	rdma_ack_cm_event(event);
}

/* An honest beginning; `change` makes it another. */
static void shake_hands(void (*change)(struct hello *))
{
	struct sockaddr_in sin = address(port);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = PILE, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct rdma_conn_param param = { .private_data = &peer.own, .private_data_len = sizeof peer.own,
					 .flow_control = 1, .retry_count = 7, .rnr_retry_count = 7 };
	struct ibv_recv_wr receive = { 0 }, *bad;

	listening = listener(port++, 8);
	must(!!(peer.channel = rdma_create_event_channel()), "channel");
	must(!rdma_create_id(peer.channel, &peer.id, NULL, RDMA_PS_TCP), "id");
	must(!rdma_resolve_addr(peer.id, NULL, (struct sockaddr *)&sin, 2000), "address");
	await(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	must(!rdma_resolve_route(peer.id, 2000), "route");
	await(RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	struct ibv_pd *pd = ibv_alloc_pd(peer.id->verbs);
	struct ibv_cq *cq = ibv_create_cq(peer.id->verbs, 2 * PILE, NULL, NULL, 0);
	must(pd && cq, "objects");
	attr.send_cq = attr.recv_cq = cq;
	must(!rdma_create_qp(peer.id, pd, &attr), "queue pair");
	peer.region = ibv_reg_mr(pd, &peer, sizeof peer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(!!peer.region, "region");
	peer.is_iwarp = peer.id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	param.initiator_depth = peer.is_iwarp;
	for (int i = 0; i < posted; i++) {
		struct ibv_sge slot = { (uintptr_t)&peer.messages[i], sizeof peer.messages[i], peer.region->lkey };

		receive = (struct ibv_recv_wr){ .sg_list = &slot, .num_sge = peer.is_iwarp };
		must(!ibv_post_recv(peer.id->qp, &receive, &bad), "receive");
	}
	peer.own = (struct hello) {
		.version = 1, .credits = htobe16(RECEIVES),
		.targets = { htobe64((uintptr_t)peer.list), htobe32(peer.region->rkey), htobe32(2) },
		.first = { htobe64((uintptr_t)peer.buffer), htobe32(peer.region->rkey), htobe32(HALF) },
	};
	if (change)
		change(&peer.own);
	must(!rdma_connect(peer.id, &param), "connect");
	await(RDMA_CM_EVENT_ESTABLISHED, &peer.other);
	fd = raccept(listening, NULL, NULL);
	must(fd >= 0, "raccept");
}

static void post_one(enum ibv_wr_opcode opcode, uint32_t message, uint64_t to, uint32_t key, const void *from, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)from, length, peer.region->lkey };
	struct ibv_send_wr *bad, wr = { .opcode = opcode, .sg_list = &sge, .num_sge = length > 0,
					.imm_data = htonl(message) };
	struct ibv_wc found[16];

	while (ibv_poll_cq(peer.id->qp->send_cq, 16, found) > 0)
		;
	wr.wr.rdma.remote_addr = to;
	wr.wr.rdma.rkey = key;
	/* A queue pair that was put in the error state takes no more. */
	(void)ibv_post_send(peer.id->qp, &wr, &bad);
}

/* iWARP has no write with a message: it follows in a send. */
static void post(enum ibv_wr_opcode opcode, uint32_t message, uint64_t to, uint32_t key, const void *from, uint32_t length)
{
	static int next;

	if (opcode != IBV_WR_RDMA_WRITE_WITH_IMM || !peer.is_iwarp)
		return post_one(opcode, message, to, key, from, length);
	if (length)
		post_one(IBV_WR_RDMA_WRITE, 0, to, key, from, length);
	peer.said[next] = message;
	post_one(IBV_WR_SEND, 0, 0, 0, peer.said + next, sizeof message);
	next = (next + 1) % PILE;
}

static void tell(uint32_t message)
{
	post(IBV_WR_RDMA_WRITE_WITH_IMM, message, 0, 0, NULL, 0);
}

/* Bytes to the place where an honest peer puts its first ones. */
static inline void bring(uint32_t at, uint32_t length, uint32_t message)
{
	post(IBV_WR_RDMA_WRITE_WITH_IMM, message, be64toh(peer.other.first.address) + at,
	     be32toh(peer.other.first.key), peer.from, length);
}

/* An entry in the socket's target list, with its message. */
static inline void grant(struct entry entry, uint32_t limit)
{
	memcpy(peer.from, &entry, sizeof entry);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, CREDIT | limit, be64toh(peer.other.targets.address) + sizeof entry,
	     be32toh(peer.other.targets.key), peer.from, sizeof entry);
}

/* A receive that was told an error, once, and then the end. */
static void ends(const char *name, int error)
{
	struct pollfd poll = { fd, POLLIN, 0 };
	char text[120];

	snprintf(text, sizeof text, "R-9 %s: rpoll", name);
	CHECK(text, rpoll(&poll, 1, 5000), 1, 0);
	snprintf(text, sizeof text, "R-9 %s: rrecv", name);
	if (rfcntl(fd, F_SETFL, O_NONBLOCK))
		exit(2);
	long n = rrecv(fd, in, sizeof in, 0);
	/* A write that the device refuses may or may not spoil a receive. */
	report(text, n, errno, -1, error ? error : errno == EPROTO ? EPROTO : ECONNRESET);
	CHECK(text, rrecv(fd, in, sizeof in, 0), 0, 0);
	snprintf(text, sizeof text, "R-9 %s: rsend", name);
	CHECK(text, rsend(fd, in, 1, MSG_NOSIGNAL), -1, EPIPE);
	/* That the peer goes, too, is no second error. */
	rdma_disconnect(peer.id);
	usleep(100000);
	CHECK(text, rsend(fd, in, 1, MSG_NOSIGNAL), -1, EPIPE);
}

static inline void refused(const char *name)
{
	ends(name, 0);
}

/* Sends until that fails: with EPROTO, or with EAGAIN where the peer only gave room that it has not. */
static inline void sends(const char *name, int error)
{
	char text[120];
	double start = now();
	long n;

	rfcntl(fd, F_SETFL, O_NONBLOCK);
	do {
		struct pollfd poll = { fd, POLLOUT, 0 };

		rpoll(&poll, 1, 1500);
		n = rsend(fd, in, sizeof in, MSG_NOSIGNAL);
	} while (n > 0 && now() - start < 10);
	snprintf(text, sizeof text, "R-9 %s: rsend", name);
	/* iWARP's devices do not say what the other refused. */
	report(text, n, errno, -1, peer.is_iwarp && error == EPROTO && errno == EIO ? EIO : error);
	snprintf(text, sizeof text, "R-9 %s: in time", name);
	CHECK_TRUE(text, now() - start < 5);
}

#endif
