// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The lives. Each call may fail, and what it made is closed then; no wait is longer than LIMIT. */
#include "life.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

/* The distribution's library, which the program is linked with, may lack them. */
int repoll_create(int flags) __attribute__((weak));
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event) __attribute__((weak));
int repoll_wait(int epfd, struct epoll_event *events, int max, int timeout) __attribute__((weak));

enum { LIMIT_MS = 1500, SIZE = 300000, CLIENTS = 4 };

static int port = 7900;
static int strict;
static char pattern[SIZE];

/* The result; what fails in a strict life is wrong, and so is a failure without a reason. */
#define CALL(expression)                                                                     \
	({                                                                                   \
		errno = 0;                                                                   \
		long got_ = (long)(expression);                                              \
		int error_ = errno;                                                          \
		if (got_ < 0 && (strict || error_ <= 0))                                     \
			wrong("%s:%d: %s: %s", __func__, __LINE__, #expression, strerror(error_)); \
		errno = error_;                                                              \
		got_;                                                                        \
	})

static struct sockaddr_in here(int at)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons((uint16_t)at) };

	inet_pton(AF_INET, "10.77.0.1", &sin.sin_addr);
	return sin;
}

static void set_limits(int fd)
{
	struct timeval limit = { LIMIT_MS / 1000, LIMIT_MS % 1000 * 1000 };

	rsetsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	rsetsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* rclose frees the number whatever it says; a second one must find nothing. */
static void end(int fd)
{
	if (fd < 0)
		return;
	CALL(rclose(fd));
	errno = 0;
	if (rclose(fd) == 0 || errno != EBADF)
		wrong("rclose twice: %s", strerror(errno));
}

static int make(int type)
{
	int fd = (int)CALL(rsocket(AF_INET, type, 0));

	if (fd >= 0)
		set_limits(fd);
	return fd;
}

static int make_listener(int backlog)
{
	struct sockaddr_in sin = here(++port);
	int fd = make(SOCK_STREAM);

	if (fd < 0 || (CALL(rbind(fd, (struct sockaddr *)&sin, sizeof sin)) == 0 && CALL(rlisten(fd, backlog)) == 0))
		return fd;
	end(fd);
	return -1;
}

static int dial(int to)
{
	struct sockaddr_in sin = here(to);
	int fd = make(SOCK_STREAM);

	if (fd < 0 || CALL(rconnect(fd, (struct sockaddr *)&sin, sizeof sin)) == 0)
		return fd;
	end(fd);
	return -1;
}

static void *dial_thread(void *to)
{
	return (void *)(long)dial((int)(long)to);
}

/* Both or none. */
static int pair_of(int server, int fds[2])
{
	pthread_t thread;
	void *dialed;

	pthread_create(&thread, NULL, dial_thread, (void *)(long)port);
	fds[1] = (int)CALL(raccept(server, NULL, NULL));
	pthread_join(thread, &dialed);
	fds[0] = (int)(long)dialed;
	if (fds[0] >= 0 && fds[1] >= 0) {
		set_limits(fds[1]);
		return 1;
	}
	end(fds[0]);
	end(fds[1]);
	return 0;
}

/* What one end sends: how many bytes a send has taken, and whether all of it went well to the good-bye. */
struct sender {
	int fd;
	long taken;
	int is_whole;
};

static void *send_all(void *arg)
{
	struct sender *sender = arg;
	long n = 0;

	while (sender->taken < SIZE) {
		long part = SIZE - sender->taken < 20000 ? SIZE - sender->taken : 20000;

		n = CALL(rsend(sender->fd, pattern + sender->taken, (size_t)part, 0));
		if (n <= 0 && !(n < 0 && errno == EINTR))
			break;
		if (n > part)
			wrong("rsend took %ld of %ld", n, part);
		sender->taken += n > 0 ? n : 0;
	}
	sender->is_whole = sender->taken == SIZE && CALL(rshutdown(sender->fd, SHUT_WR)) == 0;
	return NULL;
}

/* Receives to the end: true where the end was said, and nothing wrong. */
static int receive_all(int fd, long *received)
{
	static __thread char in[40000];
	struct pollfd one = { fd, POLLIN, 0 };
	long n, at = 0;

	for (;;) {
		n = CALL(rpoll(&one, 1, LIMIT_MS));
		if (n < 0 && errno != EINTR)
			break;
		n = CALL(rrecv(fd, in, sizeof in, 0));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (at + n > SIZE || memcmp(in, pattern + at, (size_t)n))
			wrong("%ld bytes at %ld are not what was sent", n, at);
		at += n;
	}
	*received = at;
	return n == 0;
}

static void exchange(int from, int to)
{
	struct sender sender = { from, 0, 0 };
	pthread_t thread;
	long received = 0;
	int is_end;

	pthread_create(&thread, NULL, send_all, &sender);
	is_end = receive_all(to, &received);
	if (!is_end) {
		/* A sender that waits is let go. */
		rshutdown(to, SHUT_RDWR);
		if (strict)
			wrong("no end after %ld bytes", received);
	}
	pthread_join(thread, NULL);
	if (received > sender.taken)
		wrong("%ld bytes received of %ld", received, sender.taken);
	/* An end that is said is the end of what was taken. */
	if (is_end && sender.is_whole && received != sender.taken)
		wrong("a clean end after %ld bytes of %ld", received, sender.taken);
}

static void stream_life(int is_strict)
{
	int server, fds[2];

	strict = is_strict;
	server = make_listener(4);
	if (server < 0)
		return;
	if (pair_of(server, fds)) {
		exchange(fds[0], fds[1]);
		exchange(fds[1], fds[0]);
		end(fds[0]);
		end(fds[1]);
	}
	end(server);
}

/* Clients that are accepted, and some that wait when their listener closes. */
static void listener_life(int is_strict)
{
	int server, clients[CLIENTS], accepted[CLIENTS];
	struct pollfd polled;
	char byte = 0;

	strict = is_strict;
	server = make_listener(8);
	if (server < 0)
		return;
	for (int i = 0; i < CLIENTS; i++)
		clients[i] = dial(port);
	for (int i = 0; i < CLIENTS; i++) {
		accepted[i] = -1;
		if (i >= CLIENTS - 1)
			continue;
		polled = (struct pollfd){ server, POLLIN, 0 };
		if (CALL(rpoll(&polled, 1, LIMIT_MS)) == 1)
			accepted[i] = (int)CALL(raccept(server, NULL, NULL));
		else if (strict)
			wrong("no client %d", i);
		if (accepted[i] >= 0)
			set_limits(accepted[i]);
	}
	for (int i = 0; i < CLIENTS; i++)
		if (accepted[i] >= 0)
			CALL(rsend(accepted[i], "x", 1, 0));
	end(server);
	for (int i = 0; i < CLIENTS; i++) {
		long got;

		if (clients[i] < 0)
			continue;
		errno = 0;
		got = rrecv(clients[i], &byte, 1, 0);
		if (got > 0 && byte != 'x')
			wrong("a byte that nobody sent");
		/* The last one was never accepted: to read an end would be a success. */
		if (i == CLIENTS - 1 && strict && (got != -1 || errno != ECONNRESET))
			wrong("a client of a closed listener: %ld %s", got, strerror(errno));
		if (i < CLIENTS - 1 && strict && got != 1)
			wrong("client %d: %ld %s", i, got, strerror(errno));
		end(clients[i]);
	}
	for (int i = 0; i < CLIENTS; i++)
		end(accepted[i]);
}

static void datagram_life(int is_strict)
{
	struct sockaddr_in names[2];
	int fds[2], heard = 0;
	char in[100];

	strict = is_strict;
	for (int i = 0; i < 2; i++) {
		names[i] = here(++port);
		fds[i] = make(SOCK_DGRAM);
		if (fds[i] >= 0 && CALL(rbind(fds[i], (struct sockaddr *)&names[i], sizeof names[i])) < 0) {
			end(fds[i]);
			fds[i] = -1;
		}
	}
	if (fds[0] >= 0 && fds[1] >= 0 &&
	    CALL(rconnect(fds[1], (struct sockaddr *)&names[0], sizeof names[0])) == 0)
		for (int round = 0; round < 6; round++) {
			struct sockaddr_in from = { 0 };
			socklen_t length = sizeof from;
			long got;

			CALL(rsendto(fds[0], pattern, 60, 0, (struct sockaddr *)&names[1], sizeof names[1]));
			CALL(rsend(fds[1], pattern + 1, 61, 0));
			/* They may get lost. */
			for (int i = 0; i < 2; i++) {
				struct pollfd one = { fds[i], POLLIN, 0 };

				if (rpoll(&one, 1, strict ? LIMIT_MS : 100) != 1)
					continue;
				got = rrecvfrom(fds[i], in, sizeof in, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
				if (got < 0)
					continue;
				heard++;
				if (got != 61 - i || memcmp(in, pattern + !i, (size_t)got))
					wrong("a datagram of %ld bytes", got);
				else if (length != sizeof from || from.sin_port != names[!i].sin_port)
					wrong("a datagram of somebody else's");
			}
		}
	if (strict && heard < 6)
		wrong("%d datagrams of 12", heard);
	for (int i = 0; i < 2; i++)
		end(fds[i]);
}

/* A set with rsockets and an eventfd, rpoll of many (which keeps its array), rselect. */
static void set_life(int is_strict)
{
	enum { PAIRS = 3, MANY = 18 };
	int server, set, ordinary, pairs[PAIRS][2], made = 0;
	struct epoll_event events[8];
	struct pollfd many[MANY];
	struct timeval limit;
	fd_set readable;
	char byte;

	strict = is_strict;
	server = make_listener(8);
	if (server < 0)
		return;
	set = (int)CALL(repoll_create(EPOLL_CLOEXEC));
	ordinary = eventfd(1, EFD_CLOEXEC);
	while (made < PAIRS && pair_of(server, pairs[made]))
		made++;
	if (set >= 0 && made > 0) {
		int is_there[PAIRS] = { 0 };

		CALL(repoll_ctl(set, EPOLL_CTL_ADD, ordinary, &(struct epoll_event){ EPOLLIN, { .fd = 1000 } }));
		CALL(repoll_ctl(set, EPOLL_CTL_ADD, server, &(struct epoll_event){ EPOLLIN, { .fd = 1001 } }));
		for (int i = 0; i < made; i++)
			is_there[i] = CALL(repoll_ctl(set, EPOLL_CTL_ADD, pairs[i][1],
						      &(struct epoll_event){ EPOLLIN, { .fd = i } })) == 0;
		for (int i = 0; i < made; i++) {
			int seen = 0;

			if (CALL(rsend(pairs[i][0], "y", 1, 0)) != 1)
				continue;
			for (int tries = 0; tries < 50 && !seen; tries++) {
				long n = CALL(repoll_wait(set, events, 8, 100));

				for (long k = 0; k < n; k++) {
					seen |= events[k].data.fd == i;
					/* One whose raccept has failed is there. */
					if (events[k].data.fd == 1001 && strict)
						wrong("a client that is none");
				}
				if (n < 0 && errno != EINTR)
					break;
			}
			if (!seen && strict)
				wrong("no event of %d", i);
			if (is_there[i])
				CALL(repoll_ctl(set, EPOLL_CTL_MOD, pairs[i][1],
						&(struct epoll_event){ EPOLLIN | EPOLLET, { .fd = i } }));
			CALL(rrecv(pairs[i][1], &byte, 1, 0));
		}
		if (is_there[0])
			CALL(repoll_ctl(set, EPOLL_CTL_DEL, pairs[0][1], NULL));
	}
	for (int round = 0; round < 4 && made > 0; round++) {
		long n;

		for (int i = 0; i < MANY; i++)
			many[i] = (struct pollfd){ pairs[i % made][i / made % 2], POLLIN, 0 };
		if (CALL(rsend(pairs[0][0], "z", 1, 0)) != 1)
			break;
		n = CALL(rpoll(many, MANY, LIMIT_MS));
		for (int i = 0; i < MANY; i++)
			if (n > 0 && many[i].revents & POLLIN && many[i].fd != pairs[0][1] && strict)
				wrong("input that nobody sent");
		if (n == 0 && strict)
			wrong("rpoll of many sees nothing");
		FD_ZERO(&readable);
		FD_SET(pairs[0][1], &readable);
		limit = (struct timeval){ 1, 0 };
		n = CALL(rselect(pairs[0][1] + 1, &readable, NULL, NULL, &limit));
		if (n == 1)
			CALL(rrecv(pairs[0][1], &byte, 1, 0));
		else if (strict)
			wrong("rselect: %ld", n);
	}
	for (int i = 0; i < made; i++) {
		end(pairs[i][1]);
		end(pairs[i][0]);
	}
	end(server);
	if (set >= 0)
		CALL(rclose(set));
	close(ordinary);
}

const struct life lives[] = {
	{ "stream", stream_life },
	{ "listener", listener_life },
	{ "datagram", datagram_life },
	{ "set", set_life },
	{ NULL, NULL },
};

__attribute__((constructor)) static void make_pattern(void)
{
	for (int i = 0; i < SIZE; i++)
		pattern[i] = (char)(i * 31 + i / 251);
}
