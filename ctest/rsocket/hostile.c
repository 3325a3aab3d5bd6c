/* A peer that shakes hands as an rsocket does and then breaks the protocol: its own connection ends, with EPROTO or
 * as one that was lost; nothing is read that it did not write, and other sockets of the process go on. The peer
 * is this process, by verbs. On the C library each case runs too, and may fail. */
#include "check.h"
#include "rdmafake.h"
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

enum { HALF = 65536, RECEIVES = 300, PILE = 4000, DATA = 0, CREDIT = 4u << 29, IOMAP = 6u << 29, CONTROL = 7u << 29 };

struct entry {
	uint64_t address;
	uint32_t key, length;
};

/* The private data of connect and accept. */
struct hello {
	uint8_t version, flags;
	uint16_t credits;
	uint8_t reserved[3], iomap;
	struct entry targets, first;
} __attribute__((packed));

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
	for (int i = 0; i < RECEIVES; i++) {
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

static void say(uint32_t message)
{
	post(IBV_WR_RDMA_WRITE_WITH_IMM, message, 0, 0, NULL, 0);
}

/* Bytes to the place where an honest peer puts its first ones. */
static void bring(uint32_t at, uint32_t length, uint32_t message)
{
	post(IBV_WR_RDMA_WRITE_WITH_IMM, message, be64toh(peer.other.first.address) + at,
	     be32toh(peer.other.first.key), peer.from, length);
}

/* An entry in the socket's target list, with its message. */
static void grant(struct entry entry, uint32_t limit)
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
	CHECK(text, rrecv(fd, in, sizeof in, 0), error ? -1 : 0, error);
	CHECK(text, rrecv(fd, in, sizeof in, 0), 0, 0);
	snprintf(text, sizeof text, "R-9 %s: rsend", name);
	if (!error)
		CHECK(text, rsend(fd, in, 1, MSG_NOSIGNAL), -1, ECONNRESET);
	CHECK(text, rsend(fd, in, 1, MSG_NOSIGNAL), -1, EPIPE);
	/* That the peer goes, too, is no second error. */
	rdma_disconnect(peer.id);
	usleep(100000);
	CHECK(text, rsend(fd, in, 1, MSG_NOSIGNAL), -1, EPIPE);
}

/* A write that the device refuses: it may or may not spoil a receive, so there is an error or only the end. */
static void refused(const char *name)
{
	struct pollfd poll = { fd, POLLIN, 0 };

	rpoll(&poll, 1, 5000);
	ends(name, poll.revents & POLLERR ? EPROTO : 0);
}

/* Sends until that fails: with EPROTO, or with EAGAIN where the peer only gave room that it has not. */
static void sends(const char *name, int error)
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

static void one(uint32_t message, const char *name)
{
	shake_hands(NULL);
	say(message);
	ends(name, EPROTO);
}

static void kind_1(void) { one(1u << 29, "kind 1"); }
static void kind_2(void) { one(2u << 29 | 7, "kind 2"); }
static void kind_3(void) { one(3u << 29, "kind 3"); }
static void kind_5(void) { one(5u << 29 | 0x1fffffff, "kind 5"); }
static void control_3(void) { one(CONTROL | 3, "control 3"); }
static void control_last(void) { one(CONTROL | 0x1fffffff, "the last control"); }
static void iomap_0(void) { one(IOMAP, "iomap entry of none"); }
static void iomap_last(void) { one(IOMAP | 0x1fffffff, "the last iomap entry"); }
static void data_last(void) { one(DATA | 0x1fffffff, "512 MiB of data"); }
static void data_over(void) { one(DATA | (HALF + 1), "one byte more than the buffer"); }

/* The whole room is allowed, both halves of it, and not a byte more. */
static void data_twice(void)
{
	shake_hands(NULL);
	memset(peer.from, 'a', HALF);
	bring(0, HALF, DATA | HALF);
	struct pollfd poll = { fd, POLLIN, 0 };
	CHECK("R-9 a whole buffer: rpoll", rpoll(&poll, 1, 5000), 1, 0);
	bring(HALF, HALF, DATA | HALF);
	say(DATA | 1);
	usleep(100000);
	CHECK("R-9 a whole buffer: rrecv", rrecv(fd, in, sizeof in, 0), 2 * HALF, 0);
	CHECK_TRUE("R-9 a whole buffer: its bytes", in[0] == 'a' && in[2 * HALF - 1] == 'a');
	ends("a byte beyond it", EPROTO);
}

static void send_empty(void)
{
	shake_hands(NULL);
	post(IBV_WR_SEND, 0, 0, 0, NULL, 0);
	ends("a send without a message", EPROTO);
}

/* Longer than the receives: the device ends the queue pair. */
static void send_long(void)
{
	shake_hands(NULL);
	post(IBV_WR_SEND, 0, 0, 0, peer.from, 64);
	ends("a send of 64 bytes", EPROTO);
}

/* Where nothing is registered: the device refuses, and ends the queue pair. */
static void write_outside(void)
{
	shake_hands(NULL);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, DATA | 64, 0x1000, be32toh(peer.other.first.key), peer.from, 64);
	refused("a write to elsewhere");
}

static void write_key(void)
{
	shake_hands(NULL);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, DATA | 64, be64toh(peer.other.first.address),
	     be32toh(peer.other.first.key) ^ 0x5a5a00, peer.from, 64);
	refused("a write with another key");
}

static void entry_elsewhere(void)
{
	shake_hands(NULL);
	grant((struct entry){ 0x1000, peer.region->rkey, HALF }, 2 * RECEIVES);
	sends("an entry elsewhere", EPROTO);
}

static void entry_key(void)
{
	shake_hands(NULL);
	grant((struct entry){ (uintptr_t)peer.buffer, peer.region->rkey ^ 0x5a5a00, HALF }, 2 * RECEIVES);
	sends("an entry with another key", EPROTO);
}

/* From its last byte on, around the end of memory. */
static void entry_huge(void)
{
	shake_hands(NULL);
	grant((struct entry){ ~0ull, peer.region->rkey, ~0u }, 2 * RECEIVES);
	sends("an entry around the end of memory", EPROTO);
}

static void entry_empty(void)
{
	shake_hands(NULL);
	grant((struct entry){ 0, 0, 0 }, 2 * RECEIVES);
	sends("an empty entry", EAGAIN);
}

/* An entry is there when its credit says so. What lies in its place before may be half of it, or of the next. */
static void entry_untold(void)
{
	struct entry half = { (uintptr_t)peer.from, peer.region->rkey, HALF };
	long n = 1, sent = 0;

	shake_hands(NULL);
	rfcntl(fd, F_SETFL, O_NONBLOCK);
	memset(in, 'e', sizeof in);
	for (; sent < HALF && n > 0; sent += n)
		n = rsend(fd, in, HALF - sent, 0);
	CHECK("R-9 an untold entry: the first buffer", sent, HALF, 0);
	half.key = peer.region->rkey;
	memcpy(peer.messages, &half, sizeof half);
	post_one(IBV_WR_RDMA_WRITE, 0, be64toh(peer.other.targets.address) + sizeof half,
		 be32toh(peer.other.targets.key), peer.messages, sizeof half);
	usleep(100000);
	struct pollfd poll = { fd, POLLOUT, 0 };
	CHECK("R-9 an untold entry: rpoll", rpoll(&poll, 1, 100), 0, 0);
	CHECK("R-9 an untold entry: rsend", rsend(fd, in, 100, 0), -1, EAGAIN);
	grant((struct entry){ (uintptr_t)peer.buffer + HALF, peer.region->rkey, HALF }, 2 * RECEIVES);
	CHECK("R-9 an untold entry: rpoll, told", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("R-9 an untold entry: rsend, told", rsend(fd, in, 100, 0), 100, 0);
	usleep(100000);
	CHECK_TRUE("R-9 an untold entry: where it was told", peer.buffer[HALF] == 'e' && peer.buffer[HALF + 99] == 'e');
	CHECK_TRUE("R-9 an untold entry: nowhere else", peer.from[HALF / 2] == 0 && peer.buffer[HALF + 100] == 0);
}

static void first_huge(struct hello *hello) { hello->first.length = htobe32(~0u); hello->first.address = htobe64(1); }
static void no_credits(struct hello *hello) { hello->credits = 0; }
static void list_elsewhere(struct hello *hello) { hello->targets.address = htobe64(0x1000); }

static void buffer_huge(void)
{
	shake_hands(first_huge);
	sends("a first buffer that is none", EPROTO);
}

static void credits_none(void)
{
	shake_hands(no_credits);
	sends("no credits", EAGAIN);
}

/* Our credit goes to memory that is not the peer's. */
static void targets_elsewhere(void)
{
	shake_hands(list_elsewhere);
	bring(0, HALF, DATA | HALF);
	struct pollfd poll = { fd, POLLIN, 0 };
	CHECK("R-9 targets elsewhere: rpoll", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("R-9 targets elsewhere: rrecv", rrecv(fd, in, sizeof in, 0), HALF, 0);
	/* iWARP's write is done when it is sent. */
	if (peer.is_iwarp)
		ends("targets elsewhere", 0);
	else
		ends("targets elsewhere", EPROTO);
}

/* More credits than receives: the device waits for the peer, and a close does not. */
static void credits_beyond(void)
{
	struct linger linger = { 1, 1 };
	double start;

	shake_hands(NULL);
	say(CREDIT | 0x7fff);
	say(CREDIT | 0xffff);
	rfcntl(fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 2000; i++)
		rsend(fd, "x", 1, MSG_NOSIGNAL);
	if (!peer.is_iwarp)
		CHECK("R-9 credits beyond the ring: rsend", rsend(fd, "x", 1, MSG_NOSIGNAL), -1, EAGAIN);
	rsetsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	start = now();
	CHECK("R-9 credits beyond the ring: rclose", rclose(fd), 0, 0);
	CHECK_TRUE("R-9 credits beyond the ring: within SO_LINGER", now() - start < 4);
	fd = -1;
}

static void after_goodbye(void)
{
	shake_hands(NULL);
	say(CONTROL);
	say(DATA | 0x1fffffff);
	say(1u << 29);
	usleep(100000);
	CHECK("R-9 messages after the good-bye: rrecv", rrecv(fd, in, sizeof in, 0), 0, 0);
	CHECK("R-9 messages after the good-bye: rsend", rsend(fd, in, 1, MSG_NOSIGNAL), -1, EPIPE);
}

/* More messages than four at a time, and all before the first look. A device delivers as many as there are
 * receives and tries again later; the stand-in delivers the next with each receive that is given back. */
static void messages_piled_up(void)
{
	shake_hands(NULL);
	for (int i = 0; i < PILE; i++)
		say(CONTROL | 1);
	if (RDMAFAKE(rdmafake_script))
		ends("a pile of messages", EPROTO);
	else if (peer.is_iwarp) /* which has nobody wait for a receive */
		ends("a pile of messages", 0);
	else
		CHECK("R-9 a pile of messages: rrecv", rrecv(fd, in, 1, MSG_DONTWAIT), -1, EAGAIN);
}

/* Requests whose answer is never confirmed, more than a listener of this backlog keeps: an honest client comes in at
 * once, and the listener closes at once. */
static void never_confirmed(void)
{
	enum { MANY = 60 };
	static struct hello hello;
	struct rdma_cm_id *ids[MANY];
	struct rdma_conn_param param = { .private_data = &hello, .private_data_len = sizeof hello, .retry_count = 7 };
	struct sockaddr_in sin = address(port);
	struct dialer dialer = { port, -1 };
	pthread_t thread;
	double start;

	listening = listener(port++, 8);
	hello = (struct hello){ .version = 1, .credits = htobe16(9), .targets = { 0, 0, htobe32(2) } };
	for (int i = 0; i < MANY; i++) {
		must(!!(peer.channel = rdma_create_event_channel()), "channel");
		must(!rdma_create_id(peer.channel, &ids[i], NULL, RDMA_PS_TCP), "id");
		must(!rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)&sin, 2000), "address");
		await(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
		must(!rdma_resolve_route(ids[i], 2000), "route");
		await(RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
		/* Without a queue pair the program itself would have to confirm. */
		param.qp_num = 1000 + i;
		if (ids[i]->verbs->device->transport_type == IBV_TRANSPORT_IWARP) {
			printf("# never confirmed: not on iWARP, which confirms by itself\n");
			return;
		}
		must(!rdma_connect(ids[i], &param), "connect");
	}
	usleep(200000);
	struct timeval limit = { 5, 0 };
	rsetsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	start = now();
	pthread_create(&thread, NULL, dial_thread, &dialer);
	fd = raccept(listening, NULL, NULL);
	CHECK_TRUE("R-13 never confirmed: an honest client", fd >= 0 && now() - start < 3);
	if (fd < 0)
		_exit(1);
	pthread_join(thread, NULL);
	rclose(dialer.fd);
	start = now();
	CHECK("R-13 never confirmed: rclose of the listener", rclose(listening), 0, 0);
	CHECK_TRUE("R-13 never confirmed: in time", now() - start < 3);
	listening = -1;
}

static _Atomic int flooding;

static void *flood(void *arg)
{
	(void)arg;
	while (flooding)
		say(CONTROL | 1);
	return NULL;
}

/* Messages without end: no call of ours lasts as long as they come. */
static void messages_without_end(void)
{
	pthread_t thread;
	double longest = 0;

	shake_hands(NULL);
	rfcntl(fd, F_SETFL, O_NONBLOCK);
	flooding = 1;
	pthread_create(&thread, NULL, flood, NULL);
	for (double start = now(); now() - start < 1.5;) {
		double before = now();

		rrecv(fd, in, 1, 0);
		if (now() - before > longest)
			longest = now() - before;
	}
	flooding = 0;
	pthread_join(thread, NULL);
	printf("# messages without end: a call takes %.1f ms at most\n", longest * 1e3);
	/* One that lasts as long as they come is ended by the alarm; a busy machine makes others slow. */
	CHECK_TRUE("R-9 messages without end: no call lasts", longest < 10);
}

int main(int argc, char **argv)
{
	static void (*const cases[])(void) = {
		kind_1, kind_2, kind_3, kind_5, control_3, control_last, iomap_0, iomap_last, data_last, data_over,
		data_twice, send_empty, send_long, write_outside, write_key, entry_elsewhere, entry_key, entry_huge,
		entry_empty, entry_untold, buffer_huge, credits_none, targets_elsewhere, credits_beyond, after_goodbye,
		messages_piled_up, messages_without_end,
		never_confirmed,
	};
	int only = argc > 1 ? atoi(argv[1]) : -1;

	for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
		int status = -1;

		if (only >= 0 && i != only)
			continue;
		fflush(stdout);
		/* Each alone, because the C library may die of it. */
		if (fork() == 0) {
			int bystanders[2];
			char byte;

			alarm(getenv("THEIRS") ? 5 : 30);
			port += 4 * i;
			pair(port++, bystanders);
			cases[i]();
			CHECK("R-9 others go on", rsend(bystanders[0], "o", 1, 0), 1, 0);
			CHECK("R-9 others go on", rrecv(bystanders[1], &byte, 1, 0), 1, 0);
			double start = now();
			if (fd >= 0)
				CHECK("R-9 rclose", rclose(fd), 0, 0);
			CHECK_TRUE("R-9 rclose: in time", now() - start < 5);
			rclose(bystanders[0]);
			rclose(bystanders[1]);
			rclose(listening);
			_exit(finish());
		}
		wait(&status);
		if (!WIFEXITED(status)) {
			printf("not-ok R-9 case %d: signal %d\n", i, WTERMSIG(status));
			failures++;
		} else if (WEXITSTATUS(status)) {
			if (WEXITSTATUS(status) > 1)
				printf("not-ok R-9 case %d: exit %d\n", i, WEXITSTATUS(status));
			failures++;
		}
	}
	return finish();
}
