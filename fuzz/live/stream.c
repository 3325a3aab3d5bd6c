// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A stream beside a scripted peer, on the soft device: the peer says and writes whatever the input says, while this side
 * makes calls that do not block. The peer connects, or is connected to. */
#include "live.h"
#include "hello.h"
#include <infiniband/verbs.h>

enum { HALF = 65536, RECEIVES = 64, SENDS = 256, WAIT_MS = 20000 };

static struct peer {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *region;
	struct hello own, other;
	/* What the other side writes: its entries, then the buffer. Then what the peer writes from. */
	struct entry list[2];
	uint8_t iomap[16 * 24], buffer[2 * HALF], from[2 * HALF];
} peer;

static int listening = -1, listening_port, peer_port;
static uint8_t in[4 * HALF], area[4096];
/* Bytes that the peer has told of: no more are read. */
static uint64_t told, got;

static struct rdma_cm_event *event_within(int ms)
{
	struct pollfd poll_one = { peer.channel->fd, POLLIN, 0 };
	struct rdma_cm_event *event;
	int found;

	do
		found = poll(&poll_one, 1, ms);
	while (found < 0 && errno == EINTR);
	return found == 1 && !rdma_get_cm_event(peer.channel, &event) ? event : NULL;
}

/* The type of the next event of the peer's id, or of a request, whose id is then the peer's; -1 for none. Those of an earlier
 * id may still come. */
static int next_event(void)
{
	struct rdma_cm_event *event;

	while ((event = event_within(WAIT_MS))) {
		int type = event->event, is_request = type == RDMA_CM_EVENT_CONNECT_REQUEST;
		struct rdma_cm_id *id = event->id;

		if (event->param.conn.private_data_len >= sizeof peer.other && (type == RDMA_CM_EVENT_ESTABLISHED || is_request))
			memcpy(&peer.other, event->param.conn.private_data, sizeof peer.other);
		rdma_ack_cm_event(event);
		if (is_request)
			peer.id = id;
		if (id == peer.id)
			return type;
	}
	return -1;
}

static void begin(void)
{
	struct sockaddr_in sin = device(0);
	socklen_t length = sizeof sin;

	listening = rsocket(AF_INET, SOCK_STREAM, 0);
	MUST(listening >= 0 && !rbind(listening, (struct sockaddr *)&sin, sizeof sin) && !rlisten(listening, 64));
	MUST(!rgetsockname(listening, (struct sockaddr *)&sin, &length) && !rfcntl(listening, F_SETFL, O_NONBLOCK));
	listening_port = ntohs(sin.sin_port);
	peer.channel = rdma_create_event_channel();
	sin.sin_port = 0;
	MUST(peer.channel && !rdma_create_id(peer.channel, &peer.listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(peer.listener, (struct sockaddr *)&sin) && !rdma_listen(peer.listener, 64));
	peer_port = ntohs(rdma_get_src_port(peer.listener));
	peer.pd = ibv_alloc_pd(peer.listener->verbs);
	peer.cq = ibv_create_cq(peer.listener->verbs, 2 * (SENDS + RECEIVES), NULL, NULL, 0);
	MUST(peer.pd && peer.cq);
	peer.region = ibv_reg_mr(peer.pd, &peer, sizeof peer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	MUST(peer.region);
}

static void receive_one(void)
{
	struct ibv_recv_wr receive = { 0 }, *bad;

	(void)ibv_post_recv(peer.id->qp, &receive, &bad);
}

static void make_queue_pair(int receives)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = peer.cq, .recv_cq = peer.cq,
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	MUST(!rdma_create_qp(peer.id, peer.pd, &attr));
	for (int i = 0; i < receives; i++)
		receive_one();
}

/* An honest greeting, of which the input changes what it likes. */
static struct rdma_conn_param greeting(struct script *script)
{
	uint8_t changes = byte(script), value;

	peer.own = (struct hello) {
		.version = 1, .credits = htobe16(RECEIVES),
		.targets = { htobe64((uintptr_t)peer.list), htobe32(peer.region->rkey), htobe32(2) },
		.first = { htobe64((uintptr_t)peer.buffer), htobe32(peer.region->rkey), htobe32(HALF) },
	};
	if (changes & 1)
		peer.own.credits = (uint16_t)word(script);
	if (changes & 2)
		peer.own.iomap = byte(script);
	if (changes & 4)
		peer.own.first.length = word(script);
	if (changes & 8)
		peer.own.targets.length = word(script);
	if (changes & 16)
		value = byte(script), ((uint8_t *)&peer.own)[value % sizeof peer.own] = byte(script);
	if (changes & 32)
		peer.own.first.address = htobe64((uint64_t)word(script) << (changes & 1 ? 32 : 0));
	return (struct rdma_conn_param){
		.private_data = &peer.own,
		.private_data_len = changes & 64 ? byte(script) % (sizeof peer.own + 1) : sizeof peer.own,
		.flow_control = 1, .retry_count = 7, .rnr_retry_count = changes & 128 ? 0 : 7,
		.responder_resources = 1, .initiator_depth = 1,
	};
}

/* Until there is something to tell. The fuzzer's own alarms end a wait. */
static int wait_for(int fd, int ms)
{
	struct pollfd poll_one = { fd, POLLIN | POLLOUT, 0 };
	int found;

	do
		found = rpoll(&poll_one, 1, ms);
	while (found < 0 && errno == EINTR);
	return found == 1;
}

/* The rsocket, -1 where the greeting was refused. */
static int peer_connects(struct script *script)
{
	struct sockaddr_in sin = device(listening_port);
	struct rdma_conn_param param;

	MUST(!rdma_create_id(peer.channel, &peer.id, NULL, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(peer.id, NULL, (struct sockaddr *)&sin, WAIT_MS));
	MUST(next_event() == RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(!rdma_resolve_route(peer.id, WAIT_MS));
	MUST(next_event() == RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_queue_pair(byte(script) % RECEIVES);
	param = greeting(script);
	MUST(!rdma_connect(peer.id, &param));
	if (next_event() != RDMA_CM_EVENT_ESTABLISHED)
		return -1;
	MUST(wait_for(listening, WAIT_MS));
	int fd = raccept(listening, NULL, NULL);
	MUST(fd >= 0 && !rfcntl(fd, F_SETFL, O_NONBLOCK));
	return fd;
}

static int peer_accepts(struct script *script)
{
	struct sockaddr_in sin = device(peer_port);
	struct rdma_conn_param param;
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), size = 64;

	MUST(fd >= 0 && !rfcntl(fd, F_SETFL, O_NONBLOCK));
	rsetsockopt(fd, SOL_RDMA, RDMA_IOMAPSIZE, &size, sizeof size);
	MUST(rconnect(fd, (struct sockaddr *)&sin, sizeof sin) == -1 && errno == EINPROGRESS);
	MUST(next_event() == RDMA_CM_EVENT_CONNECT_REQUEST);
	make_queue_pair(byte(script) % RECEIVES);
	param = greeting(script);
	if (byte(script) == 0xFF) {
		MUST(!rdma_reject(peer.id, &peer.own, param.private_data_len));
	} else {
		MUST(!rdma_accept(peer.id, &param));
		next_event();
	}
	/* A peer without room for a message leaves it unwritable. */
	wait_for(fd, 20);
	return fd;
}

static void post(enum ibv_wr_opcode opcode, uint32_t message, uint64_t to, uint32_t key, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)peer.from, length, peer.region->lkey };
	struct ibv_send_wr *bad, wr = { .opcode = opcode, .sg_list = &sge, .num_sge = length > 0, .imm_data = htonl(message),
					.send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc found[16];

	while (ibv_poll_cq(peer.cq, 16, found) > 0)
		;
	wr.wr.rdma.remote_addr = to;
	wr.wr.rdma.rkey = key;
	(void)ibv_post_send(peer.id->qp, &wr, &bad);
	if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM && !(message >> 29))
		told += message & 0x1fffffff;
}

static void tell(uint32_t message, uint32_t length, uint32_t at)
{
	post(IBV_WR_RDMA_WRITE_WITH_IMM, message, be64toh(peer.other.first.address) + at, be32toh(peer.other.first.key), length);
}

/* One step of the peer's. */
static void step_of_peer(struct script *script, uint8_t what)
{
	uint32_t value;

	switch (what) {
	case 0:
		return tell(word(script), 0, 0);
	case 1:
		/* Data as an honest peer brings it. */
		value = 1 + byte(script) * 64u;
		return tell(value, value, byte(script) * 256u);
	case 2:
		/* Credit, with an entry. */
		value = word(script);
		peer.list[0] = (struct entry){ (uintptr_t)peer.buffer + byte(script) * 64u, peer.region->rkey, value };
		memcpy(peer.from, peer.list, sizeof peer.list[0]);
		post(IBV_WR_RDMA_WRITE, 0, be64toh(peer.other.targets.address) + (byte(script) & 1) * sizeof(struct entry),
		     be32toh(peer.other.targets.key), sizeof(struct entry));
		return tell(4u << 29 | byte(script), 0, 0);
	case 3:
		/* Any bytes anywhere in what this side has opened. */
		value = byte(script) % 64;
		for (uint32_t i = 0; i < value; i++)
			peer.from[i] = byte(script);
		return post(IBV_WR_RDMA_WRITE, 0, be64toh(peer.other.targets.address) + word(script) % 4096,
			    be32toh(peer.other.targets.key), value);
	case 4:
		return post(IBV_WR_SEND, 0, 0, 0, byte(script) % 8);
	case 5:
		return receive_one();
	case 6:
		rdma_disconnect(peer.id);
		return;
	default:
		/* Many of one kind. */
		value = word(script);
		for (int i = byte(script) % 32; i; i--)
			tell(value, 0, 0);
	}
}

/* One call of this side's. */
static void own_call(struct script *script, int fd, uint8_t what)
{
	struct pollfd poll_one = { fd, POLLIN | POLLOUT, 0 };
	uint32_t length = word(script);
	int choice = byte(script), size = (int)length;
	long n;

	switch (what) {
	case 0:
	case 1:
		n = IN_TIME(rrecv(fd, in, 1 + length % sizeof in, choice & 1 ? MSG_PEEK : 0));
		MUST(n <= (long)sizeof in);
		if (n > 0 && !(choice & 1))
			got += (uint64_t)n;
		break;
	case 2:
		IN_TIME(rsend(fd, in, length % sizeof in, choice & 1 ? MSG_MORE : 0));
		break;
	case 3:
		IN_TIME(rpoll(&poll_one, 1, 0));
		break;
	case 4:
		IN_TIME(rshutdown(fd, choice % 3));
		break;
	case 5:
		IN_TIME(riomap(fd, area, 1 + length % sizeof area, choice & 1 ? PROT_WRITE : 0, 0, choice));
		break;
	case 6:
		IN_TIME(riowrite(fd, in, length % HALF, length / HALF, 0));
		break;
	default:
		rsetsockopt(fd, SOL_SOCKET, choice & 1 ? SO_RCVLOWAT : SO_SNDBUF, &size, sizeof size);
	}
	MUST(got <= told);
}

int live_stream(const uint8_t *bytes, size_t length)
{
	struct script script = { bytes, bytes + length };
	int fd, steps = 0;

	if (listening < 0)
		begin();
	told = got = 0;
	peer.id = NULL;
	fd = byte(&script) & 1 ? peer_accepts(&script) : peer_connects(&script);
	while (fd >= 0 && !ended(&script) && steps++ < 200) {
		uint8_t what = byte(&script);

		if (what & 8)
			own_call(&script, fd, what & 7);
		else
			step_of_peer(&script, what & 7);
	}
	if (fd >= 0)
		MUST(!IN_TIME(rclose(fd)));
	rdma_disconnect(peer.id);
	rdma_destroy_qp(peer.id);
	/* What is still to come is for nobody. */
	for (struct rdma_cm_event *event; (event = event_within(0));)
		rdma_ack_cm_event(event);
	MUST(!rdma_destroy_id(peer.id));
	for (struct rdma_cm_event *event; (event = event_within(0));)
		rdma_ack_cm_event(event);
	look_for_leaks();
	return 0;
}
