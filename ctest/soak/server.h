// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The server: threads that block, a set, a poll loop and an echo of datagrams, each with a port of its own. */
#ifndef SERVER_H
#define SERVER_H

#include "talk.h"

enum { WORKERS = 5, CONNECTIONS = 128 };

static int first_port;

/* The number of a socket that is gone may come again at once: the version tells them apart. */
struct door {
	int fd, version;
};

static struct door doors[PORTS] = { { -1, 0 }, { -1, 0 }, { -1, 0 }, { -1, 0 } };
static pthread_mutex_t reopening = PTHREAD_MUTEX_INITIALIZER;
static figure serving;

static inline int stopping(void) { return page->stop != 0; }

static inline int open_port(int kind)
{
	struct sockaddr_in sin = address(first_port + kind);
	int one = 1, fd = TIMED(rsocket(AF_INET, kind == DATAGRAMS ? SOCK_DGRAM : SOCK_STREAM, 0));

	if (fd < 0)
		return -1;
	TIMED(rsetsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one));
	if (kind != BLOCKING)
		TIMED(rfcntl(fd, F_SETFL, O_NONBLOCK));
	if (!TIMED(rbind(fd, (struct sockaddr *)&sin, sizeof sin)) && (kind == DATAGRAMS || !TIMED(rlisten(fd, 64))))
		return fd;
	TIMED(rclose(fd));
	return -1;
}

/* The socket of a port: another than `old`, of which the device went; none as long as there is no device. Whoever
 * has connections goes on with them meanwhile: the device waits for their end. */
static inline struct door reopen(int kind, struct door old)
{
	struct door *door = &doors[kind];

	pthread_mutex_lock(&reopening);
	if (door->fd >= 0 && door->version == old.version) {
		TIMED(rclose(door->fd));
		door->fd = -1;
	}
	if (door->fd < 0 && !stopping()) {
		door->fd = open_port(kind);
		door->version++;
	}
	struct door now_open = *door;
	pthread_mutex_unlock(&reopening);
	return now_open;
}

/* A connection, or -1 when there is none now. */
static const struct door NONE = { -1, -1 };

static inline int accepts(int kind, struct door *listener)
{
	struct sockaddr_in from;
	socklen_t size = sizeof from;
	uint64_t then = page->generation;
	/* Without a limit: it waits for a client. */
	int fd = percent(50) ? raccept(listener->fd, NULL, NULL) : raccept(listener->fd, (struct sockaddr *)&from, &size);

	if (fd >= 0)
		return fd;
	if (stopping() || errno == EAGAIN || errno == EINTR)
		return -1;
	/* A connection that was gone before it was taken; or the device went, or another thread has seen that. */
	if (errno != ECONNABORTED) {
		failed(!calm_since(then), errno, "raccept", 0, "");
		*listener = reopen(kind, *listener);
	}
	return -1;
}

static inline void *worker(void *arg)
{
	chance = mix((uintptr_t)arg + 1000);
	buffers();
	struct door listener = reopen(BLOCKING, NONE);

	while (!stopping()) {
		if (listener.fd < 0) {
			usleep(100000);
			listener = reopen(BLOCKING, listener);
			continue;
		}
		int fd = accepts(BLOCKING, &listener);
		struct talk t;

		if (fd < 0)
			continue;
		serving++;
		begin(&t, fd, 1);
		limit_waits(fd);
		run(&t, percent(70) ? -1 : (int)below(3));
		serving--;
	}
	drop_buffers();
	leave_slot();
	return NULL;
}

static inline struct talk *free_talk(struct talk *all)
{
	for (int i = 0; i < CONNECTIONS; i++)
		if (!all[i].in_use)
			return &all[i];
	return NULL;
}

static inline void drop(struct talk *t)
{
	closes(t);
	serving--;
}

/* As far as it goes without waiting. */
static inline void advance(struct talk *t)
{
	enum progress p;

	do {
		p = step(t, MSG_DONTWAIT);
		if (p == MORE)
			t->last = now();
	} while (p == MORE);
	if (p == OVER)
		drop(t);
}

static inline void idle_ones(struct talk *all)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		if (!all[i].in_use || now() - all[i].last < (double)page->patience)
			continue;
		ends(&all[i], 0, ETIMEDOUT, "waiting");
		drop(&all[i]);
	}
}

static inline uint32_t wanted(const struct talk *t)
{
	if (t->edge == 1)
		return EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
	return (t->wants_in ? EPOLLIN : 0) | (t->wants_out ? EPOLLOUT : 0) | (t->edge == 2 ? EPOLLONESHOT : 0);
}

static inline void into_set(int set, int op, int fd, uint32_t events, void *what)
{
	struct epoll_event event = { .events = events, .data.ptr = what };

	if (TIMED(repoll_ctl(set, op, fd, &event)))
		failed(0, errno, "repoll_ctl", 0, op == EPOLL_CTL_ADD ? "add" : "mod");
}

/* Levels, edges and once-only, by chance. */
static inline void *set_loop(void *arg)
{
	static struct talk all[CONNECTIONS];
	struct epoll_event events[16];
	struct talk *t;

	(void)arg;
	chance = 2001;
	buffers();
	struct door listener = reopen(IN_SET, NONE);
	int set = TIMED(repoll_create(0)), fd;

	if (listener.fd >= 0)
		into_set(set, EPOLL_CTL_ADD, listener.fd, EPOLLIN, NULL);
	while (!stopping()) {
		int n = TIMED(repoll_wait(set, events, 16, listener.fd < 0 ? 100 : 500)), before = listener.version;

		for (int i = 0; i < n; i++) {
			if ((t = events[i].data.ptr)) {
				advance(t);
				if (t->in_use && t->edge != 1)
					into_set(set, EPOLL_CTL_MOD, t->fd, wanted(t), t);
				continue;
			}
			while (listener.fd >= 0) {
				t = free_talk(all);
				fd = accepts(IN_SET, &listener);
				if (fd < 0)
					break;
				if (!t) {
					TIMED(rclose(fd));
					continue;
				}
				serving++;
				begin(t, fd, 1);
				t->edge = (int)below(3), t->wants_in = 1;
				into_set(set, EPOLL_CTL_ADD, fd, wanted(t), t);
			}
		}
		if (listener.fd < 0)
			listener = reopen(IN_SET, listener);
		if (listener.version != before && listener.fd >= 0)
			into_set(set, EPOLL_CTL_ADD, listener.fd, EPOLLIN, NULL);
		idle_ones(all);
	}
	for (int i = 0; i < CONNECTIONS; i++)
		if (all[i].in_use)
			drop(&all[i]);
	TIMED(rclose(set));
	drop_buffers();
	leave_slot();
	return NULL;
}

static inline void *poll_loop(void *arg)
{
	static struct talk all[CONNECTIONS];
	struct pollfd polls[CONNECTIONS + 1];
	struct talk *of[CONNECTIONS + 1], *t;
	int fd;

	(void)arg;
	chance = 2002;
	buffers();
	struct door listener = reopen(IN_POLL, NONE);

	while (!stopping()) {
		int n = 1;

		if (listener.fd < 0)
			listener = reopen(IN_POLL, listener);
		polls[0] = (struct pollfd){ listener.fd, POLLIN, 0 };
		for (int i = 0; i < CONNECTIONS; i++) {
			if (!all[i].in_use)
				continue;
			of[n] = &all[i];
			polls[n++] = (struct pollfd){ all[i].fd, (all[i].wants_in ? POLLIN : 0) |
							       (all[i].wants_out ? POLLOUT : 0), 0 };
		}
		TIMED(rpoll(polls, n, listener.fd < 0 ? 100 : 500));
		for (int i = 1; i < n; i++)
			if (polls[i].revents)
				advance(of[i]);
		while (polls[0].revents && listener.fd >= 0 && (t = free_talk(all)) && (fd = accepts(IN_POLL, &listener)) >= 0) {
			serving++;
			begin(t, fd, 1);
			t->wants_in = 1;
		}
		idle_ones(all);
	}
	for (int i = 0; i < CONNECTIONS; i++)
		if (all[i].in_use)
			drop(&all[i]);
	drop_buffers();
	leave_slot();
	return NULL;
}

/* Sends back what comes. */
static inline void *echo(void *arg)
{
	static unsigned char in[65536];
	struct door door = reopen(DATAGRAMS, NONE);

	(void)arg;
	while (!stopping()) {
		if (door.fd < 0) {
			usleep(100000);
			door = reopen(DATAGRAMS, door);
			continue;
		}
		struct pollfd poll = { door.fd, POLLIN, 0 };
		uint64_t then = page->generation;
		struct sockaddr_in from;
		socklen_t size = sizeof from;

		TIMED(rpoll(&poll, 1, 500));
		ssize_t n = TIMED(rrecvfrom(door.fd, in, sizeof in, 0, (struct sockaddr *)&from, &size));
		/* The sender may be gone: that is its own affair. */
		if (n >= 0)
			TIMED(rsendto(door.fd, in, n, 0, (struct sockaddr *)&from, size));
		else if (!stopping() && (errno == ENODEV || errno == EBADF)) {
			failed(!calm_since(then), errno, "rrecvfrom", 0, "");
			door = reopen(DATAGRAMS, door);
		}
	}
	leave_slot();
	return NULL;
}

static inline pthread_t start(void *(*body)(void *), uintptr_t arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, (void *)arg)) {
		perror("pthread_create");
		exit(2);
	}
	return thread;
}

static pthread_t server_threads[WORKERS + 3];

static inline void start_server(int port)
{
	first_port = port;
	for (int i = 0; i < WORKERS; i++)
		server_threads[i] = start(worker, i);
	server_threads[WORKERS] = start(set_loop, 0);
	server_threads[WORKERS + 1] = start(poll_loop, 0);
	server_threads[WORKERS + 2] = start(echo, 0);
}

static inline void end_server(void)
{
	/* Those that wait for a client hear of it. */
	pthread_mutex_lock(&reopening);
	for (int i = 0; i < PORTS; i++)
		if (doors[i].fd >= 0)
			TIMED(rclose(doors[i].fd));
	pthread_mutex_unlock(&reopening);
	for (int i = 0; i < WORKERS + 3; i++)
		pthread_join(server_threads[i], NULL);
}

#endif
