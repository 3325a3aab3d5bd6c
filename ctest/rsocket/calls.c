// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Every call on what is no rsocket, or no rsocket in the right state; options; flags. */
#include "check.h"

static char buf[4096];
static struct iovec iov = { buf, sizeof buf };
static struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

static void bad_descriptors(void)
{
	static const int fds[] = { -1, -2147483647, 3000, 70000, 2147483647 };
	struct sockaddr_in sin = address(7000);
	socklen_t length = sizeof sin;
	int value = 0;
	socklen_t size = sizeof value;

	for (unsigned i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		int fd = fds[i];

		CHECK_ALONE("R-2 rrecv bad fd", rrecv(fd, buf, 1, 0), -1, EBADF);
		CHECK_ALONE("R-2 rsend bad fd", rsend(fd, buf, 1, 0), -1, EBADF);
		CHECK_ALONE("R-2 rrecvfrom bad fd", rrecvfrom(fd, buf, 1, 0, NULL, NULL), -1, EBADF);
		CHECK_ALONE("R-2 rsendto bad fd",
			    rsendto(fd, buf, 1, 0, (struct sockaddr *)&sin, length), -1, EBADF);
		CHECK_ALONE("R-2 rrecvmsg bad fd", rrecvmsg(fd, &msg, 0), -1, EBADF);
		CHECK_ALONE("R-2 rsendmsg bad fd", rsendmsg(fd, &msg, 0), -1, EBADF);
		CHECK_ALONE("R-2 rread bad fd", rread(fd, buf, 1), -1, EBADF);
		CHECK_ALONE("R-2 rwrite bad fd", rwrite(fd, buf, 1), -1, EBADF);
		CHECK_ALONE("R-2 rreadv bad fd", rreadv(fd, &iov, 1), -1, EBADF);
		CHECK_ALONE("R-2 rwritev bad fd", rwritev(fd, &iov, 1), -1, EBADF);
		CHECK_ALONE("R-2 riomap bad fd", riomap(fd, buf, 1, PROT_WRITE, 0, 0), -1, EBADF);
		CHECK_ALONE("R-2 riounmap bad fd", riounmap(fd, buf, 1), -1, EBADF);
		CHECK_ALONE("R-2 riowrite bad fd", riowrite(fd, buf, 1, 0, 0), -1, EBADF);
		CHECK_ALONE("R-2 rbind bad fd", rbind(fd, (struct sockaddr *)&sin, length), -1, EBADF);
		CHECK_ALONE("R-2 rconnect bad fd",
			    rconnect(fd, (struct sockaddr *)&sin, length), -1, EBADF);
		CHECK_ALONE("R-2 rlisten bad fd", rlisten(fd, 1), -1, EBADF);
		CHECK_ALONE("R-2 raccept bad fd", raccept(fd, NULL, NULL), -1, EBADF);
		CHECK_ALONE("R-2 rshutdown bad fd", rshutdown(fd, SHUT_RDWR), -1, EBADF);
		CHECK_ALONE("R-3 rclose bad fd", rclose(fd), -1, EBADF);
		CHECK_ALONE("R-2 rfcntl bad fd", rfcntl(fd, F_GETFL), -1, EBADF);
		CHECK_ALONE("R-2 rgetsockopt bad fd",
			    rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size), -1, EBADF);
		CHECK_ALONE("R-2 rsetsockopt bad fd",
			    rsetsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, size), -1, EBADF);
		CHECK_ALONE("R-2 rgetpeername bad fd",
			    rgetpeername(fd, (struct sockaddr *)&sin, &length), -1, EBADF);
		CHECK_ALONE("R-2 rgetsockname bad fd",
			    rgetsockname(fd, (struct sockaddr *)&sin, &length), -1, EBADF);
	}
}

static void creation(void)
{
	CHECK("R-2 rsocket unknown family", rsocket(AF_UNIX, SOCK_STREAM, 0), -1, EAFNOSUPPORT);
	CHECK("R-2 rsocket unknown type", rsocket(AF_INET, SOCK_RAW, 0), -1, ESOCKTNOSUPPORT);
	CHECK("R-2 rsocket wrong protocol", rsocket(AF_INET, SOCK_STREAM, IPPROTO_UDP), -1,
	      EPROTONOSUPPORT);
	int fd = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	CHECK_TRUE("R-21 SOCK_NONBLOCK | SOCK_CLOEXEC", fd >= 0);
	if (fd >= 0) {
		CHECK("R-21 F_GETFL says non-blocking", !!(rfcntl(fd, F_GETFL) & O_NONBLOCK), 1, 0);
		CHECK("R-22 F_GETFD says close on exec", rfcntl(fd, F_GETFD), FD_CLOEXEC, 0);
		CHECK("F_SETFL 0", rfcntl(fd, F_SETFL, 0), 0, 0);
		CHECK("F_GETFL says blocking", !!(rfcntl(fd, F_GETFL) & O_NONBLOCK), 0, 0);
		CHECK("F_SETFL O_NONBLOCK", rfcntl(fd, F_SETFL, O_NONBLOCK), 0, 0);
		CHECK("F_GETFL says non-blocking again", !!(rfcntl(fd, F_GETFL) & O_NONBLOCK), 1, 0);
		CHECK("rclose", rclose(fd), 0, 0);
	}
	CHECK("R-3 rclose again", rclose(fd), -1, EBADF);
}

static void unconnected(void)
{
	struct sockaddr_in sin;
	socklen_t length = sizeof sin;
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);
	struct pollfd poll = { fd, POLLIN | POLLOUT, 0 };

	CHECK_ALONE("R-20 rrecv in a fork's child", rrecv(fd, buf, 1, MSG_DONTWAIT), -1, ENOTCONN);
	rclose(fd);
	fd = rsocket(AF_INET, SOCK_STREAM, 0);
	poll.fd = fd;
	if (!getenv("THEIRS")) {
		CHECK("R-4 rrecv unconnected", rrecv(fd, buf, 1, 0), -1, ENOTCONN);
		CHECK("R-4 rsend unconnected", rsend(fd, buf, 1, 0), -1, ENOTCONN);
		CHECK("R-36 rshutdown unconnected", rshutdown(fd, SHUT_RDWR), -1, ENOTCONN);
		CHECK("rpoll unconnected", rpoll(&poll, 1, 0), 1, 0);
		CHECK("rpoll unconnected events", poll.revents, POLLIN | POLLHUP | POLLOUT, 0);
		CHECK("raccept not listening", raccept(fd, NULL, NULL), -1, EINVAL);
		CHECK("rgetpeername unconnected",
		      rgetpeername(fd, (struct sockaddr *)&sin, &length), -1, ENOTCONN);
	}
	CHECK("rgetsockname unbound", rgetsockname(fd, (struct sockaddr *)&sin, &length), 0, 0);
	CHECK("R-11 rbind short length", rbind(fd, (struct sockaddr *)&sin, 4), -1, EINVAL);
	CHECK_ALONE("R-11 rconnect short length", rconnect(fd, (struct sockaddr *)&sin, 4), -1, EINVAL);
	rclose(fd);
	/* As bind(2) and connect(2): longer than any address there is. */
	static const socklen_t absurd[] = { sizeof(struct sockaddr_storage) + 1, 4096, 0x7fffffff, -1 };
	struct sockaddr_storage any = { 0 };

	fd = rsocket(AF_INET, SOCK_STREAM, 0);
	sin = address(7003);
	memcpy(&any, &sin, sizeof sin);
	for (unsigned i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
		CHECK_ALONE("R-11 rbind absurd length", rbind(fd, (struct sockaddr *)&any, absurd[i]), -1,
			    EINVAL);
		if (getenv("THEIRS"))
			continue;
		CHECK("R-11 rbind absurd length", rbind(fd, (struct sockaddr *)&any, absurd[i]), -1, EINVAL);
		CHECK("R-11 rconnect absurd length", rconnect(fd, (struct sockaddr *)&any, absurd[i]), -1,
		      EINVAL);
	}
	if (!getenv("THEIRS"))
		CHECK("rbind with a whole sockaddr_storage", rbind(fd, (struct sockaddr *)&any, sizeof any),
		      0, 0);
	rclose(fd);
	fd = rsocket(AF_INET, SOCK_STREAM, 0);
	sin = address(7001);
	CHECK("rbind", rbind(fd, (struct sockaddr *)&sin, sizeof sin), 0, 0);
	CHECK("R-2 rbind again", rbind(fd, (struct sockaddr *)&sin, sizeof sin), -1, EINVAL);
	memset(&sin, 0, sizeof sin);
	length = sizeof sin;
	CHECK("rgetsockname bound", rgetsockname(fd, (struct sockaddr *)&sin, &length), 0, 0);
	CHECK("bound port", ntohs(sin.sin_port), 7001, 0);
	CHECK("rlisten", rlisten(fd, 4), 0, 0);
	/* The C library's child would act on its parent's thread. */
	if (!getenv("THEIRS")) {
		CHECK_ALONE("R-20 rlisten in a fork's child", rlisten(fd, 8), -1, EPERM);
		CHECK_ALONE("R-20 raccept in a fork's child",
			    (rfcntl(fd, F_SETFL, O_NONBLOCK), raccept(fd, NULL, NULL)), -1, EPERM);
		CHECK("R-4 rrecv listening", rrecv(fd, buf, 1, 0), -1, ENOTCONN);
		CHECK("R-4 rsend listening", rsend(fd, buf, 1, 0), -1, ENOTCONN);
	}
	rfcntl(fd, F_SETFL, O_NONBLOCK);
	CHECK("raccept non-blocking", raccept(fd, NULL, NULL), -1, EAGAIN);
	CHECK("rclose listening", rclose(fd), 0, 0);
}

static void option(int fd, const char *name, int level, int option, int value, int want)
{
	int got = -1;
	socklen_t size = sizeof got;

	if (value >= 0)
		CHECK(name, rsetsockopt(fd, level, option, &value, sizeof value), 0, 0);
	CHECK(name, rgetsockopt(fd, level, option, &got, &size), 0, 0);
	CHECK(name, got, want, 0);
}

/* Options that are taken and read as values, or have nothing to act on. */
static void hints(int fd)
{
	static const struct {
		const char *name;
		int level, option;
	} without_effect[] = {
		{ "SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT },
		{ "SO_PRIORITY", SOL_SOCKET, SO_PRIORITY },
		{ "TCP_LINGER2", IPPROTO_TCP, TCP_LINGER2 },
		{ "TCP_SYNCNT", IPPROTO_TCP, TCP_SYNCNT },
		{ "TCP_WINDOW_CLAMP", IPPROTO_TCP, TCP_WINDOW_CLAMP },
		{ "TCP_DEFER_ACCEPT", IPPROTO_TCP, TCP_DEFER_ACCEPT },
		{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT },
		{ "TCP_FASTOPEN", IPPROTO_TCP, TCP_FASTOPEN },
		{ "TCP_QUICKACK", IPPROTO_TCP, TCP_QUICKACK },
	};
	int value = 5, six = rsocket(AF_INET6, SOCK_STREAM, 0);
	unsigned char path[72] = { 1 }, got[144];
	socklen_t size = sizeof got;

	for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++)
		CHECK(without_effect[i].name,
		      rsetsockopt(fd, without_effect[i].level, without_effect[i].option, &value,
				  sizeof value),
		      0, 0);
	option(fd, "SO_SNDLOWAT", SOL_SOCKET, SO_SNDLOWAT, -1, 1);
	option(fd, "IP_TOS", IPPROTO_IP, IP_TOS, 32, 32);
	option(six, "IPV6_TCLASS", IPPROTO_IPV6, IPV6_TCLASS, 32, 32);
	rclose(six);
	CHECK("RDMA_ROUTE, no whole record", rsetsockopt(fd, SOL_RDMA, RDMA_ROUTE, path, 71), -1, EINVAL);
	CHECK("RDMA_ROUTE", rsetsockopt(fd, SOL_RDMA, RDMA_ROUTE, path, sizeof path), 0, 0);
	CHECK("RDMA_ROUTE", rgetsockopt(fd, SOL_RDMA, RDMA_ROUTE, got, &size), 0, 0);
	CHECK_TRUE("RDMA_ROUTE is kept", size == sizeof path && !memcmp(got, path, sizeof path));
}

static void options(void)
{
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), value = 1;
	struct linger linger = { 1, 3 };
	socklen_t size = sizeof linger;

	option(fd, "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 1, 1);
	option(fd, "SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, 1, 1);
	option(fd, "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, 65536, 131072);
	option(fd, "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, 65536, 131072);
	option(fd, "SO_ERROR", SOL_SOCKET, SO_ERROR, -1, 0);
	option(fd, "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, 1, 1);
	option(fd, "RDMA_SQSIZE", SOL_RDMA, RDMA_SQSIZE, 100, 100);
	option(fd, "RDMA_RQSIZE", SOL_RDMA, RDMA_RQSIZE, 100, 100);
	option(fd, "RDMA_INLINE", SOL_RDMA, RDMA_INLINE, 32, 32);
	option(fd, "RDMA_IOMAPSIZE", SOL_RDMA, RDMA_IOMAPSIZE, 64, 64);
	option(fd, "R-42 RDMA_IOMAPSIZE is rounded", SOL_RDMA, RDMA_IOMAPSIZE, 300, 256);
	option(fd, "R-2 SO_TYPE", SOL_SOCKET, SO_TYPE, -1, SOCK_STREAM);
	option(fd, "R-2 SO_DOMAIN", SOL_SOCKET, SO_DOMAIN, -1, AF_INET);
	option(fd, "R-2 SO_PROTOCOL", SOL_SOCKET, SO_PROTOCOL, -1, IPPROTO_TCP);
	option(fd, "R-2 SO_ACCEPTCONN", SOL_SOCKET, SO_ACCEPTCONN, -1, 0);
	CHECK("SO_LINGER", rsetsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0, 0);
	memset(&linger, 0, sizeof linger);
	CHECK("R-36 SO_LINGER is kept", rgetsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &size), 0, 0);
	CHECK("R-36 SO_LINGER is kept", linger.l_onoff * 100 + linger.l_linger, 103, 0);
	if (!getenv("THEIRS"))
		hints(fd);
	CHECK("R-2 unknown option", rsetsockopt(fd, SOL_SOCKET, 12345, &value, sizeof value), -1,
	      ENOPROTOOPT);
	CHECK("R-2 option too short", rsetsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, 2), -1, EINVAL);
	rclose(fd);
}

static void datagrams(void)
{
	struct sockaddr_in sin = address(7002);
	int fd = rsocket(AF_INET, SOCK_DGRAM, 0);

	CHECK_TRUE("datagram socket", fd >= 0);
	if (getenv("THEIRS"))
		return;
	CHECK("R-5 rsend without connect", rsend(fd, buf, 1, 0), -1, EDESTADDRREQ);
	CHECK("R-5 rlisten", rlisten(fd, 1), -1, EOPNOTSUPP);
	CHECK("R-5 riomap", riomap(fd, buf, 1, PROT_WRITE, 0, 0), -1, EOPNOTSUPP);
	CHECK("R-5 rsendmsg", rsendmsg(fd, &msg, 0), -1, EDESTADDRREQ);
	CHECK("R-6 longer than a slot", rsendto(fd, buf, 2048, 0, (struct sockaddr *)&sin, sizeof sin),
	      -1, EMSGSIZE);
	CHECK("R-11 rsendto short address", rsendto(fd, buf, 1, 0, (struct sockaddr *)&sin, 3), -1,
	      EINVAL);
	CHECK("R-11 rsendto absurd length", rsendto(fd, buf, 1, 0, (struct sockaddr *)&sin, 4096), -1,
	      EINVAL);
	CHECK("R-11 rbind absurd length", rbind(fd, (struct sockaddr *)&sin, 4096), -1, EINVAL);
	CHECK("rrecv with nothing there", rrecv(fd, buf, 1, MSG_DONTWAIT), -1, EAGAIN);
	CHECK("rclose", rclose(fd), 0, 0);
}

int main(void)
{
	bad_descriptors();
	creation();
	unconnected();
	options();
	datagrams();
	return finish();
}
