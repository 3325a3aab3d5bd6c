// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Several threads wait in one set: an edge (EPOLLET) and an EPOLLONESHOT event are told to one of them, and only once.
 * limit: 120
 */
#include "common.h"

enum { THREADS = 4, ROUNDS = 60 };

static int set;
static volatile int stop;
static _Atomic int told[2];

/* Counts what it is told, by connection, and comes back at once. */
static void *wait_run(void *unused)
{
	struct epoll_event got;

	while (!stop)
		if (epoll_wait(set, &got, 1, 50) == 1)
			told[got.data.u32 & 1]++;
	return NULL;
}

static void begin(pthread_t threads[THREADS])
{
	set = MUST(epoll_create1(EPOLL_CLOEXEC));
	stop = 0;
	told[0] = told[1] = 0;
	for (int i = 0; i < THREADS; i++)
		MUST(-pthread_create(&threads[i], NULL, wait_run, NULL));
}

static void end(pthread_t threads[THREADS])
{
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	close(set);
}

static void control(int op, int fd, unsigned bits, int data)
{
	MUST(epoll_ctl(set, op, fd, &(struct epoll_event){ .events = bits, .data.u32 = data }));
}

/* Waits until so many were told, and whether more are. */
static int told_exactly(int which, int wanted, int quiet)
{
	for (int ms = 0; told[which] < wanted && ms < 5000; ms++)
		nap(1);
	nap(quiet);
	return told[which] == wanted;
}

static void edges(const char *title, unsigned bits, int reads)
{
	pthread_t threads[THREADS];
	int fds[2], exact = 0, at_first;
	char byte;

	TITLE(title);
	begin(threads);
	pair(fds);
	control(EPOLL_CTL_ADD, fds[0], bits | EPOLLET, 0);
	/* A connection can be written to, which is an edge for those who want it. */
	at_first = bits & EPOLLOUT ? 1 : 0;
	say("at first: %d", told_exactly(0, at_first, 50));
	for (int i = 1; i <= ROUNDS; i++) {
		MUST(send(fds[1], "x", 1, 0));
		exact += told_exactly(0, at_first + i, 8);
		if (reads)
			MUST(recv(fds[0], &byte, 1, 0));
	}
	say("exact: %d of %d, told %d", exact, ROUNDS, told[0]);
	end(threads);
	close(fds[0]), close(fds[1]);
}

/* Data comes, but only room to write is waited for: no edge. */
static void of_the_other_kind(void)
{
	pthread_t threads[THREADS];
	int fds[2], exact = 0;

	TITLE("bytes for those who want to write");
	begin(threads);
	pair(fds);
	control(EPOLL_CTL_ADD, fds[0], EPOLLOUT | EPOLLET, 0);
	for (int i = 0; i < 10; i++) {
		exact += told_exactly(0, 1, 20);
		MUST(send(fds[1], "x", 1, 0));
	}
	say("exact: %d, told %d", exact, told[0]);
	end(threads);
	close(fds[0]), close(fds[1]);
}

/* Rearmed after each: as often as there is something. Not told while it is disarmed, however much comes. */
static void one_shot(const char *title, unsigned bits)
{
	pthread_t threads[THREADS];
	int fds[2], exact = 0;
	char bytes[8];

	TITLE(title);
	begin(threads);
	pair(fds);
	control(EPOLL_CTL_ADD, fds[0], bits | EPOLLONESHOT, 1);
	for (int i = 1; i <= ROUNDS; i++) {
		for (int bytes_sent = 0; bytes_sent < 3; bytes_sent++)
			MUST(send(fds[1], "x", 1, 0));
		exact += told_exactly(1, i, 8);
		for (int got = 0; got < 3;)
			got += MUST(recv(fds[0], bytes, sizeof(bytes), 0));
		control(EPOLL_CTL_MOD, fds[0], bits | EPOLLONESHOT, 1);
	}
	say("exact: %d of %d, told %d", exact, ROUNDS, told[1]);
	end(threads);
	close(fds[0]), close(fds[1]);
}

/* Each connection that comes is an edge of its listener; the end of one is another, told once. */
static void ends_and_listeners(void)
{
	pthread_t threads[THREADS];
	int server = listener(64), fds[8][2], exact = 0;

	TITLE("connections of a listener, and their ends");
	begin(threads);
	control(EPOLL_CTL_ADD, server, EPOLLIN | EPOLLET, 0);
	for (int i = 0; i < 8; i++) {
		struct dialer dialer = { .host = HERE, .port = port_of(server) };

		MUST(-pthread_create(&dialer.thread, NULL, dialer_run, &dialer));
		for (int ms = 0; told[0] <= i && ms < 5000; ms++)
			nap(1);
		fds[i][0] = MUST(accept(server, NULL, NULL));
		pthread_join(dialer.thread, NULL);
		fds[i][1] = dialer.fd;
	}
	/* A client that changes from RDMA to TCP comes on both sides of the listener. */
	say("connections: %d", told[0] >= 8);
	exact = 0;
	for (int i = 0; i < 8; i++) {
		control(EPOLL_CTL_ADD, fds[i][0], EPOLLIN | EPOLLRDHUP | EPOLLET, 1);
		close(fds[i][1]);
		exact += told_exactly(1, i + 1, 20);
	}
	say("ends: %d, told %d", exact, told[1]);
	end(threads);
	for (int i = 0; i < 8; i++)
		close(fds[i][0]);
	close(server);
}

/* Full, and room again: one edge for whoever was refused. */
static void room(void)
{
	static char block[65536];
	pthread_t threads[THREADS];
	int fds[2], exact = 0;

	TITLE("room for those who were refused");
	begin(threads);
	pair(fds);
	MUST(fcntl(fds[0], F_SETFL, O_NONBLOCK));
	MUST(fcntl(fds[1], F_SETFL, O_NONBLOCK));
	control(EPOLL_CTL_ADD, fds[0], EPOLLOUT | EPOLLET, 0);
	for (int i = 1; i <= 5; i++) {
		exact += told_exactly(0, i, 30);
		while (send(fds[0], block, sizeof(block), MSG_NOSIGNAL) > 0)
			;
		for (int quiet = 0; quiet < 20;) {
			if (recv(fds[1], block, sizeof(block), 0) > 0)
				quiet = 0;
			else
				quiet++, nap(1);
		}
	}
	say("told each time: %d", exact == 5 || told[0] >= 5);
	end(threads);
	close(fds[0]), close(fds[1]);
}

int main(void)
{
	edges("edges of bytes that are read", EPOLLIN, 1);
	edges("edges of bytes that are left", EPOLLIN, 0);
	edges("both kinds", EPOLLIN | EPOLLOUT | EPOLLRDHUP, 1);
	of_the_other_kind();
	one_shot("one shot", EPOLLIN);
	one_shot("one shot and edges", EPOLLIN | EPOLLET);
	ends_and_listeners();
	room();
	return 0;
}
