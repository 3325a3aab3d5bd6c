// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A peer that shakes hands as an rsocket does and then breaks the protocol: its own connection ends, with EPROTO or
 * as one that was lost; nothing is read that it did not write, and other sockets of the process go on. The peer
 * is this process, by verbs. On the C library each case runs too, and may fail. */
#include "peer.h"

static void one(uint32_t message, const char *name)
{
	shake_hands(NULL);
	tell(message);
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

static void data_over(void)
{
	shake_hands(NULL);
	tell(DATA | (be32toh(peer.other.first.length) + 1));
	ends("one byte more than the buffer", EPROTO);
}

/* The whole room is allowed, both halves of it, and not a byte more. */
static void data_twice(void)
{
	shake_hands(NULL);
	memset(peer.from, 'a', HALF);
	bring(0, HALF, DATA | HALF);
	struct pollfd poll = { fd, POLLIN, 0 };
	CHECK("R-9 a whole buffer: rpoll", rpoll(&poll, 1, 5000), 1, 0);
	bring(HALF, HALF, DATA | HALF);
	tell(DATA | 1);
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
	tell(CREDIT | 0x7fff);
	tell(CREDIT | 0xffff);
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
	tell(CONTROL);
	tell(DATA | 0x1fffffff);
	tell(1u << 29);
	usleep(100000);
	CHECK("R-9 messages after the good-bye: rrecv", rrecv(fd, in, sizeof in, 0), 0, 0);
	/* As with TCP: the first send finds out. */
	CHECK("R-9 messages after the good-bye: rsend", rsend(fd, in, 1, MSG_NOSIGNAL), 1, 0);
	CHECK("R-9 messages after the good-bye: rsend again", rsend(fd, in, 1, MSG_NOSIGNAL), -1, EPIPE);
}

/* More messages than four at a time, and all before the first look. A device delivers as many as there are
 * receives and tries again later; the soft device delivers the next with each receive that is given back. */
static void messages_piled_up(void)
{
	shake_hands(NULL);
	for (int i = 0; i < PILE; i++)
		tell(CONTROL | 1);
	if (RDMAFAKE(rdmafake_script))
		ends("a pile of messages", EPROTO);
	else if (peer.is_iwarp) /* which has nobody wait for a receive */
		ends("a pile of messages", 0);
	else
		CHECK("R-9 a pile of messages: rrecv", rrecv(fd, in, 1, MSG_DONTWAIT), -1, EAGAIN);
}

/* A peer that offers credits, has no receive for what comes, and answers nothing. It sends one line. */
static int deaf_peer(void)
{
	struct pollfd poll;

	posted = 0;
	shake_hands(NULL);
	posted = RECEIVES;
	bring(0, 10, DATA | 10);
	poll = (struct pollfd){ fd, POLLIN, 0 };
	CHECK("R-9 a deaf peer: rpoll", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("R-9 a deaf peer: rrecv", rrecv(fd, in, sizeof in, 0), 10, 0);
	CHECK("R-9 a deaf peer: rsend", rsend(fd, "answer\n", 7, 0), 7, 0);
	return fd;
}

/* As with TCP a close and a shutdown return, and the descriptor's number is free; so with each of several. */
static void deaf(int flags, int shuts)
{
	double start;
	int other;

	for (int i = 0; i < 3; i++) {
		deaf_peer();
		rfcntl(fd, F_SETFL, flags);
		start = now();
		if (shuts)
			CHECK("R-9 a deaf peer: rshutdown", rshutdown(fd, SHUT_WR), 0, 0);
		CHECK_TRUE("R-9 a deaf peer: rshutdown does not wait", now() - start < 0.5);
		start = now();
		CHECK("R-9 a deaf peer: rclose", rclose(fd), 0, 0);
		CHECK_TRUE("R-9 a deaf peer: rclose does not wait", now() - start < 0.5);
		if (!i)
			printf("# a deaf peer: rclose takes %.1f ms\n", (now() - start) * 1e3);
		other = dup(0);
		CHECK("R-9 a deaf peer: the number is free", other == fd, 1, 0);
		close(other);
		rclose(listening);
	}
	fd = -1;
	listening = listener(port++, 8);
}

static void deaf_blocking(void) { deaf(0, 0); }
static void deaf_nonblocking(void) { deaf(O_NONBLOCK, 0); }
static void deaf_shut(void) { deaf(0, 1); }

/* What is sent in the background ends: after ten seconds, and sooner where others need the room. */
static void deaf_many(void)
{
	enum { MANY = 80, KEPT = 64 };
	void (*alive)(struct rdmafake_live *) = RDMAFAKE(rdmafake_live);
	struct rdmafake_live before, now_alive;
	double start;

	/* The peer's own objects, which stay. */
	if (!alive) {
		printf("# many deaf peers: on the soft device alone, which counts its objects\n");
		deaf_peer();
		return;
	}
	alive(&before);
	start = now();
	for (int i = 0; i < MANY; i++) {
		deaf_peer();
		CHECK("R-9 many deaf peers: rclose", rclose(fd), 0, 0);
		rclose(listening);
	}
	CHECK_TRUE("R-9 many deaf peers: in time", now() - start < 8);
	alive(&now_alive);
	printf("# many deaf peers: %u queue pairs beside the peers' %d\n", now_alive.qps - before.qps - MANY, MANY);
	CHECK_TRUE("R-9 many deaf peers: bounded", now_alive.qps - before.qps <= MANY + KEPT);
	sleep(11);
	alive(&now_alive);
	CHECK("R-9 many deaf peers: all ended", now_alive.qps - before.qps, MANY, 0);
	fd = -1;
	listening = listener(port++, 8);
}

/* The end of the process waits once for all of them. */
static void deaf_exit(void)
{
	int status;
	double start = now();
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 4; i++) {
			deaf_peer();
			rclose(listening);
			if (i % 2)
				rclose(fd);
		}
		exit(finish());
	}
	waitpid(pid, &status, 0);
	CHECK("R-9 deaf peers at the end: exit", status, 0, 0);
	CHECK_TRUE("R-9 deaf peers at the end: in time", now() - start < 5);
	printf("# deaf peers at the end: %.1f s\n", now() - start);
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

/* Memory of an earlier connection is another's later: nothing of the first is in it, and the first's key does not open
 * it. The peers are hostile both: one writes where it tells nothing, the other tells of bytes that it does not write. */
static void earlier_connection(void)
{
	struct entry first;
	uint32_t length;
	int zeros = 1;

	shake_hands(NULL);
	first = peer.other.first;
	length = be32toh(first.length);
	memset(peer.from, 's', sizeof peer.from);
	for (uint32_t at = 0; at < length; at += HALF)
		post(IBV_WR_RDMA_WRITE, 0, be64toh(first.address) + at, be32toh(first.key), peer.from,
		     length - at < HALF ? length - at : HALF);
	bring(0, 100, DATA | 100);
	CHECK("R-9 an earlier connection: rrecv", rrecv(fd, in, sizeof in, 0), 100, 0);
	rclose(fd);
	rclose(listening);
	rdma_disconnect(peer.id);

	shake_hands(NULL);
	printf("# memory of an earlier connection: %s\n",
	       peer.other.first.address == first.address ? "the same place" : "another place");
	CHECK_TRUE("R-9 an earlier connection: a key of its own", peer.other.first.key != first.key);
	tell(DATA | (length / 2));
	memset(in, 'x', sizeof in);
	CHECK("R-9 an earlier connection: bytes that nobody wrote", rrecv(fd, in, length / 2, MSG_WAITALL), length / 2, 0);
	for (uint32_t at = 0; at < length / 2; at++)
		zeros &= in[at] == 0;
	CHECK_TRUE("R-9 an earlier connection: nothing is seen of it", zeros);
	post(IBV_WR_RDMA_WRITE_WITH_IMM, DATA | 64, be64toh(first.address), be32toh(first.key), peer.from, 64);
	refused("a key of an earlier connection");
}

static _Atomic int flooding;

static void *flood(void *arg)
{
	(void)arg;
	while (flooding)
		tell(CONTROL | 1);
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
		messages_piled_up, messages_without_end, earlier_connection,
		never_confirmed, deaf_blocking, deaf_nonblocking, deaf_shut, deaf_many, deaf_exit,
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
			if (cases[i] != deaf_exit)
				pair(port++, bystanders);
			cases[i]();
			if (cases[i] == deaf_exit)
				_exit(finish());
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
