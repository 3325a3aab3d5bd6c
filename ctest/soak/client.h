// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Rounds of a client: each is a connection, datagrams, an attempt that fails, or a fork. */
#ifndef CLIENT_H
#define CLIENT_H

#include "talk.h"

/* What this process does to itself: then any of its connections may fail. */
static int is_rough;

static inline void round_of(int forks);

static inline void options(int fd)
{
	static const struct { int level, name, values[4]; } all[] = {
		{ SOL_SOCKET, SO_RCVBUF, { 4096, 16384, 131072, 1 << 20 } },
		{ SOL_SOCKET, SO_SNDBUF, { 4096, 16384, 131072, 1 << 20 } },
		{ SOL_RDMA, RDMA_SQSIZE, { 8, 32, 128, 384 } },
		{ SOL_RDMA, RDMA_RQSIZE, { 8, 32, 128, 384 } },
		{ SOL_RDMA, RDMA_INLINE, { 0, 16, 64, 128 } },
		{ IPPROTO_TCP, TCP_NODELAY, { 0, 1, 0, 1 } },
		{ SOL_SOCKET, SO_KEEPALIVE, { 0, 1, 1, 1 } },
	};

	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
		if (percent(25) && TIMED(rsetsockopt(fd, all[i].level, all[i].name, &all[i].values[below(4)], sizeof(int))))
			failed(0, errno, "rsetsockopt", i, "");
}

/* 0, or the errno. */
static inline int connects(int fd, const struct sockaddr_in *to, int way)
{
	int error = 0;
	socklen_t size = sizeof error;

	/* An event that a rule drops never comes. */
	if (is_rough)
		limit_waits(fd);
	if (percent(50)) {
		while (TIMED(rconnect(fd, (const struct sockaddr *)to, sizeof *to)))
			if (errno != EINTR)
				return errno;
		return 0;
	}
	TIMED(rfcntl(fd, F_SETFL, O_NONBLOCK));
	if (TIMED(rconnect(fd, (const struct sockaddr *)to, sizeof *to)) && errno != EINPROGRESS)
		return errno;
	for (double from = now(); now() - from < 2 * (double)page->patience;) {
		struct pollfd poll = { fd, POLLOUT, 0 };

		if (!wait_for(fd, 0, 1, way, 500) || TIMED(rpoll(&poll, 1, 0)) <= 0)
			continue;
		if (TIMED(rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size)))
			return errno;
		TIMED(rfcntl(fd, F_SETFL, 0));
		return error;
	}
	return ETIMEDOUT;
}

static inline void stream(int port, int rough)
{
	struct sockaddr_in to = address(port + (int)below(DATAGRAMS)), peer;
	socklen_t size = sizeof peer;
	struct talk t;
	int way = percent(40) ? -1 : (int)below(3);

	begin(&t, TIMED(rsocket(AF_INET, SOCK_STREAM, 0)), 0);
	rough |= is_rough;
	if (t.fd < 0)
		return failed(rough || !calm_since(t.generation), errno, "rsocket", 0, "");
	t.hello = (struct hello){ .magic = MAGIC, .flags = (rough ? ROUGH : 0) | (way >= 0 && percent(40) ? DUPLEX : 0),
				  .seed = any(), .up = any_size(page->largest), .down = any_size(page->largest),
				  .finish = below(FINISHES) };
	t.hello.stop_at = below(t.hello.up + t.hello.down + sizeof t.hello);
	/* The answer shows that the server has all. */
	if (t.hello.finish == LATE_RESET) {
		t.hello.flags &= ~DUPLEX;
		t.hello.down++;
	}
	t.to_send = sizeof t.hello + t.hello.up;
	t.to_get = t.hello.down;
	options(t.fd);
	int error = connects(t.fd, &to, way);
	if (error) {
		ends(&t, 0, error, "rconnect");
		return closes(&t);
	}
	page->connections++;
	if (percent(20) && TIMED(rgetpeername(t.fd, (struct sockaddr *)&peer, &size)))
		ends(&t, 0, errno, "rgetpeername");
	t.last = now();
	run(&t, way);
}

static inline void datagrams(int port)
{
	struct sockaddr_in to = address(port + DATAGRAMS);
	uint64_t then = page->generation;
	int connected = percent(50), fd = TIMED(rsocket(AF_INET, SOCK_DGRAM, 0));

	if (fd < 0)
		return failed(is_rough || !calm_since(then), errno, "rsocket", 0, "datagrams");
	if (connected && TIMED(rconnect(fd, (struct sockaddr *)&to, sizeof to)))
		failed(is_rough || !calm_since(then), errno, "rconnect", 0, "datagrams");
	for (int i = 1 + (int)below(12); i > 0; i--) {
		struct pollfd poll = { fd, POLLIN, 0 };
		uint64_t seed = any();
		size_t n = 8 + below(1200);
		ssize_t r;

		memcpy(bytes, &seed, 8);
		content(seed, 8, bytes + 8, n - 8);
		if (connected)
			r = TIMED(rsend(fd, bytes, n, 0));
		else
			r = TIMED(rsendto(fd, bytes, n, 0, (struct sockaddr *)&to, sizeof to));
		if (r < 0) {
			failed(is_rough || !calm_since(then) || port != MAIN_PORT, errno, "rsendto", 0, "datagrams");
			break;
		}
		if (TIMED(rpoll(&poll, 1, 1000)) <= 0) {
			page->datagrams_lost++;
			continue;
		}
		r = TIMED(rrecv(fd, bytes, BUFFER, MSG_DONTWAIT));
		if (r < 0) {
			failed(is_rough || !calm_since(then) || port != MAIN_PORT, errno, "rrecv", 0, "datagrams");
			continue;
		}
		/* One that is late is an echo as well. */
		memcpy(&seed, bytes, 8);
		content(seed, 8, other, r > 8 ? r - 8 : 0);
		if (r < 8 || memcmp(other, bytes + 8, r - 8)) {
			page->wrong++;
			note("WRONG datagram of %zd bytes", r);
		}
		page->datagrams++;
	}
	if (TIMED(rclose(fd)))
		failed(0, errno, "rclose", 0, "datagrams");
}

/* Nobody listens. */
static inline void refused(void)
{
	struct sockaddr_in to = address(CLOSED_PORT + (int)below(8));
	uint64_t then = page->generation;
	int fd = TIMED(rsocket(AF_INET, SOCK_STREAM, 0));
	int error = fd < 0 ? errno : connects(fd, &to, 2);

	if (error == ECONNREFUSED)
		page->refused++;
	else
		failed(is_rough || !calm_since(then), error, "rconnect to a closed port", 0, "");
	if (fd >= 0)
		TIMED(rclose(fd));
}

/* Given up while it connects, to somebody or to nobody. */
static inline void given_up(int port)
{
	struct sockaddr_in to = address(port + (int)below(DATAGRAMS));
	int fd = TIMED(rsocket(AF_INET, SOCK_STREAM, 0));

	if (fd < 0)
		return;
	options(fd);
	if (percent(30))
		to.sin_addr.s_addr ^= htonl(77);
	TIMED(rfcntl(fd, F_SETFL, O_NONBLOCK));
	TIMED(rconnect(fd, (struct sockaddr *)&to, sizeof to));
	if (percent(70))
		usleep(any_size(100000));
	TIMED(rclose(fd));
}

/* A listener that goes while some wait for it. */
static inline void short_listener(void)
{
	struct sockaddr_in sin = address(0);
	socklen_t size = sizeof sin;
	int fds[4], n = 1 + (int)below(4), server = TIMED(rsocket(AF_INET, SOCK_STREAM, 0));

	if (server < 0)
		return;
	if (!TIMED(rbind(server, (struct sockaddr *)&sin, sizeof sin)) && !TIMED(rlisten(server, 1 + (int)below(8))) &&
	    !TIMED(rgetsockname(server, (struct sockaddr *)&sin, &size))) {
		for (int i = 0; i < n; i++) {
			fds[i] = TIMED(rsocket(AF_INET, SOCK_STREAM, 0));
			TIMED(rfcntl(fds[i], F_SETFL, O_NONBLOCK));
			TIMED(rconnect(fds[i], (struct sockaddr *)&sin, sizeof sin));
		}
		if (percent(50) && wait_for(server, 1, 0, (int)below(3), 1000)) {
			TIMED(rfcntl(server, F_SETFL, O_NONBLOCK));
			int fd = TIMED(raccept(server, NULL, NULL));
			if (fd >= 0)
				TIMED(rclose(fd));
		}
		if (percent(50))
			usleep(any_size(20000));
		TIMED(rclose(server));
		server = -1;
		for (int i = 0; i < n; i++)
			if (fds[i] >= 0)
				TIMED(rclose(fds[i]));
	}
	if (server >= 0)
		TIMED(rclose(server));
}

/* A child that has an open connection of its parent's: it is refused that, may have ones of its own, and ends in any way. */
static inline void in_child(int fd)
{
	signal(SIGALRM, SIG_DFL);
	alarm((unsigned)page->hang_limit);
	forget_threads();
	chance = mix(chance + 5);
	role = "child";
	if (percent(50) && fd >= 0) {
		int r = (int)TIMED(percent(50) ? rsend(fd, bytes, 1, MSG_NOSIGNAL) : rrecv(fd, bytes, 1, MSG_DONTWAIT));
		if (r >= 0 || errno != EPERM)
			failed(is_rough, r < 0 ? errno : 0, "call of a child", 0, "");
	}
	if (percent(30) && fd >= 0)
		TIMED(rclose(fd));
	for (int n = (int)below(3); n > 0; n--)
		round_of(0);
	if (percent(30))
		usleep(below(1000000));
	if (percent(50))
		_exit(0);
	exit(0);
}

static inline void forked(void)
{
	struct sockaddr_in to = address(MAIN_PORT + (int)below(DATAGRAMS));
	int status, fd = TIMED(rsocket(AF_INET, SOCK_STREAM, 0));

	if (fd >= 0 && connects(fd, &to, 2)) {
		TIMED(rclose(fd));
		fd = -1;
	}
	page->forks++;
	pid_t pid = TIMED(fork());
	if (!pid)
		in_child(fd);
	if (percent(70))
		round_of(0);
	if (fd >= 0)
		TIMED(rclose(fd));
	while (TIMED(waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		note("child %d: signal %d", pid, WTERMSIG(status));
		WTERMSIG(status) == SIGALRM ? page->hangs++ : page->crashes++;
	}
}

static inline void round_of(int forks)
{
	int port = percent(85) ? MAIN_PORT : VICTIM_PORT;
	unsigned kind = (unsigned)below(100);

	if (kind < 70)
		stream(port, port != MAIN_PORT);
	else if (kind < 80)
		datagrams(port);
	else if (kind < 85)
		refused();
	else if (kind < 90)
		given_up(port);
	else if (kind < 94)
		short_listener();
	else if (forks)
		forked();
}

#endif
