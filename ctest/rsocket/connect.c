// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connecting without waiting: refused, twice, and both sides in one thread. */
#include "check.h"

static char in[16];

/* The second time the first is on its way, or, on a busy machine, refused and told: then another try. */
static int connect_twice(const struct sockaddr_in *sin)
{
	int fd, error, tries = 0;

	do {
		if (tries)
			rclose(fd);
		fd = rsocket(AF_INET, SOCK_STREAM, 0);
		rfcntl(fd, F_SETFL, O_NONBLOCK);
		CHECK("non-blocking connect", rconnect(fd, (const struct sockaddr *)sin, sizeof *sin), -1, EINPROGRESS);
		error = rconnect(fd, (const struct sockaddr *)sin, sizeof *sin) ? errno : 0;
	} while (error == ECONNREFUSED && ++tries < 50);
	report("connect again", error ? -1 : 0, error, -1, EALREADY);
	return fd;
}

static void refused(void)
{
	struct sockaddr_in sin = address(7199);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), value = 0;
	socklen_t size = sizeof value;
	struct pollfd poll = { fd, POLLOUT, 0 };

	CHECK("nobody listens", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), -1, ECONNREFUSED);
	rclose(fd);
	if (getenv("THEIRS"))
		return;
	poll.fd = fd = connect_twice(&sin);
	CHECK("its failure is seen", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("its failure is seen", !!(poll.revents & POLLERR), 1, 0);
	CHECK("C 74d5844 send keeps the error", rsend(fd, "x", 1, MSG_NOSIGNAL), -1, ECONNREFUSED);
	CHECK("SO_ERROR", rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size), 0, 0);
	CHECK("SO_ERROR", value, ECONNREFUSED, 0);
	rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size);
	CHECK("SO_ERROR is told once", value, 0, 0);
	rclose(fd);
	fd = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	poll.fd = fd;
	CHECK("non-blocking connect", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), -1, EINPROGRESS);
	CHECK("its failure is seen", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("connect again tells it", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), -1, ECONNREFUSED);
	rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size);
	CHECK("which is told once", value, 0, 0);
	rclose(fd);
}

/* The same calls for rsockets and for the kernel's own TCP. */
struct calls {
	const char *name;
	int (*socket)(int, int, int);
	int (*connect)(int, const struct sockaddr *, socklen_t);
	int (*bind)(int, const struct sockaddr *, socklen_t);
	int (*listen)(int, int);
	int (*poll)(struct pollfd *, nfds_t, int);
	int (*getsockopt)(int, int, int, void *, socklen_t *);
	int (*setsockopt)(int, int, int, const void *, socklen_t);
	int (*getsockname)(int, struct sockaddr *, socklen_t *);
	ssize_t (*send)(int, const void *, size_t, int);
	int (*close)(int);
};

static int my_connect(int fd, const struct sockaddr *to, socklen_t size)
{
	return connect(fd, to, size);
}

static int my_bind(int fd, const struct sockaddr *to, socklen_t size)
{
	return bind(fd, to, size);
}

static int my_getsockname(int fd, struct sockaddr *own, socklen_t *size)
{
	return getsockname(fd, own, size);
}

static int connect_errno(const struct calls *use, int fd, const struct sockaddr_in *sin)
{
	return use->connect(fd, (const struct sockaddr *)sin, sizeof *sin) ? errno : 0;
}

/* A socket whose connect has failed is as good as new, once a connect has said so. R-: the C library's says ENOTCONN. */
static void tries_again(const struct calls *use, struct sockaddr_in sin, struct sockaddr_in own)
{
	int fd = use->socket(AF_INET, SOCK_STREAM, 0), server = use->socket(AF_INET, SOCK_STREAM, 0), value = 1;
	struct pollfd poll = { .events = POLLOUT };
	struct sockaddr_in name;
	socklen_t size = sizeof value, length = sizeof name;
	char title[100];

#define TRIED(what, got, want)                                          \
	do {                                                            \
		snprintf(title, sizeof title, "R- %s: %s", use->name, what); \
		CHECK(title, got, want, 0);                             \
	} while (0)
	use->setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value);
	TRIED("bound", use->bind(fd, (struct sockaddr *)&own, sizeof own), 0);
	for (int i = 0; i < 3; i++)
		TRIED("refused, again and again", connect_errno(use, fd, &sin), ECONNREFUSED);

	poll.fd = use->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	TRIED("on its way", connect_errno(use, poll.fd, &sin), EINPROGRESS);
	TRIED("its failure is seen", use->poll(&poll, 1, 5000), 1);
	TRIED("SO_ERROR", use->getsockopt(poll.fd, SOL_SOCKET, SO_ERROR, &value, &size), 0);
	TRIED("SO_ERROR", value, ECONNREFUSED);
	TRIED("which leaves nothing to say", connect_errno(use, poll.fd, &sin), ECONNABORTED);
	for (int i = 0; i < 2; i++) {
		TRIED("on its way again", connect_errno(use, poll.fd, &sin), EINPROGRESS);
		TRIED("its failure is seen", use->poll(&poll, 1, 5000), 1);
		TRIED("and said", connect_errno(use, poll.fd, &sin), ECONNREFUSED);
	}

	use->setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value);
	TRIED("somebody listens", use->bind(server, (struct sockaddr *)&sin, sizeof sin), 0);
	TRIED("somebody listens", use->listen(server, 4), 0);
	TRIED("connected after all", connect_errno(use, fd, &sin), 0);
	TRIED("connected", connect_errno(use, fd, &sin), EISCONN);
	TRIED("name", use->getsockname(fd, (struct sockaddr *)&name, &length), 0);
	TRIED("the port it was bound to", ntohs(name.sin_port), ntohs(own.sin_port));
	TRIED("data", use->send(fd, "x", 1, 0), 1);
	TRIED("on its way, and connected after all", connect_errno(use, poll.fd, &sin), EINPROGRESS);
	TRIED("connected", use->poll(&poll, 1, 5000), 1);
	TRIED("connected", poll.revents & (POLLERR | POLLHUP | POLLOUT), POLLOUT);
	use->close(fd);
	use->close(poll.fd);
	use->close(server);
}

static void again(void)
{
	const struct calls tcp = { "TCP", socket, my_connect, my_bind, listen, poll, getsockopt, setsockopt,
				   my_getsockname, send, close };
	const struct calls rdma = { "rsockets", rsocket, rconnect, rbind, rlisten, rpoll, rgetsockopt, rsetsockopt,
				    rgetsockname, rsend, rclose };
	struct sockaddr_in local = { .sin_family = AF_INET, .sin_port = htons(7198),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, own = local;

	own.sin_port = htons(7197);
	tries_again(&tcp, local, own);
	if (!getenv("THEIRS"))
		tries_again(&rdma, address(7198), address(7197));
}

/* One thread alone: connect and accept without blocking. */
static void single_threaded(void)
{
	struct sockaddr_in sin = address(7104);
	int server = listener(7104, 4), fd = rsocket(AF_INET, SOCK_STREAM, 0), accepted;
	struct pollfd poll = { server, POLLIN, 0 };

	rfcntl(fd, F_SETFL, O_NONBLOCK);
	rfcntl(server, F_SETFL, O_NONBLOCK);
	CHECK("non-blocking connect", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), -1, EINPROGRESS);
	CHECK("the request is seen", rpoll(&poll, 1, 5000), 1, 0);
	accepted = raccept(server, NULL, NULL);
	CHECK_TRUE("accepted", accepted >= 0);
	CHECK("accepted is blocking", !!(rfcntl(accepted, F_GETFL) & O_NONBLOCK), 0, 0);
	poll = (struct pollfd){ fd, POLLOUT, 0 };
	CHECK("connected", rpoll(&poll, 1, 5000), 1, 0);
	CHECK("connected", poll.revents, POLLOUT, 0);
	CHECK("data", rsend(fd, "x", 1, 0), 1, 0);
	CHECK("data", rrecv(accepted, in, 1, 0), 1, 0);
	rclose(accepted);
	rclose(fd);
	rclose(server);
}

int main(void)
{
	refused();
	again();
	single_threaded();
	return finish();
}
