// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Socket options that programs use, before and after connecting, and that they are passed on to an accepted socket. */
#include "common.h"
#include <netinet/in.h>
#include <linux/sockios.h>

#define SHOW(fd, level, name)                                                          \
	do {                                                                           \
		int value_ = -77;                                                      \
		socklen_t length_ = sizeof value_;                                     \
		errno = 0;                                                             \
		int got_ = getsockopt(fd, level, name, &value_, &length_);             \
		say("%s: %d, value %d, length %u %s", #name, got_, value_, length_, errno_name(errno)); \
	} while (0)
#define SET(fd, level, name, number)                                                   \
	do {                                                                           \
		int value_ = number;                                                   \
		errno = 0;                                                             \
		int got_ = setsockopt(fd, level, name, &value_, sizeof value_);        \
		say("set %s = %d: %d %s", #name, number, got_, errno_name(errno));     \
	} while (0)

static void what_it_is(int fd)
{
	SHOW(fd, SOL_SOCKET, SO_TYPE);
	SHOW(fd, SOL_SOCKET, SO_DOMAIN);
	SHOW(fd, SOL_SOCKET, SO_PROTOCOL);
	SHOW(fd, SOL_SOCKET, SO_ACCEPTCONN);
	SHOW(fd, SOL_SOCKET, SO_ERROR);
}

static void set_all(int fd)
{
	struct timeval limit = { 3, 500000 };
	socklen_t length = sizeof limit;

	SET(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	SHOW(fd, SOL_SOCKET, SO_REUSEADDR);
	SET(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	SHOW(fd, SOL_SOCKET, SO_KEEPALIVE);
	SET(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	SHOW(fd, IPPROTO_TCP, TCP_NODELAY);
	SET(fd, IPPROTO_TCP, TCP_CORK, 1);
	SET(fd, IPPROTO_TCP, TCP_CORK, 0);
	SET(fd, IPPROTO_TCP, TCP_KEEPIDLE, 100);
	SHOW(fd, IPPROTO_TCP, TCP_KEEPIDLE);
	SET(fd, IPPROTO_TCP, TCP_KEEPINTVL, 20);
	SHOW(fd, IPPROTO_TCP, TCP_KEEPINTVL);
	SET(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
	SHOW(fd, IPPROTO_TCP, TCP_KEEPCNT);
	SET(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 7000);
	SHOW(fd, IPPROTO_TCP, TCP_USER_TIMEOUT);
	SET(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
	SET(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1);
	SET(fd, IPPROTO_TCP, TCP_FASTOPEN, 5);
	SET(fd, IPPROTO_IP, IP_TOS, 16);
	SHOW(fd, IPPROTO_IP, IP_TOS);
	SET(fd, IPPROTO_IP, IP_TTL, 33);
	SET(fd, SOL_SOCKET, SO_SNDBUF, 65536);
	SHOW(fd, SOL_SOCKET, SO_SNDBUF);
	SET(fd, SOL_SOCKET, SO_RCVBUF, 65536);
	SHOW(fd, SOL_SOCKET, SO_RCVBUF);
	SET(fd, SOL_SOCKET, SO_OOBINLINE, 1);
	SET(fd, SOL_SOCKET, SO_PRIORITY, 3);
	SET(fd, SOL_SOCKET, SO_BROADCAST, 1);
	SET(fd, SOL_SOCKET, 9999, 1);
	SET(fd, IPPROTO_TCP, 9999, 1);
	SET(fd, 77, 1, 1);
	SAY(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	limit = (struct timeval){ 0, 0 };
	SAY(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &length));
	say("%ld.%06ld", (long)limit.tv_sec, (long)limit.tv_usec);
	SAY(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &length, 1));
	SAY(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, NULL, 4));
	SAY(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, NULL, NULL));
	length = 1;
	SAY(getsockopt(fd, SOL_SOCKET, SO_TYPE, &limit, &length));
	say("length %u", length);
}

static void state(int fd)
{
	struct tcp_info info = { .tcpi_state = 99 };
	socklen_t length = sizeof info;

	SAY(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length));
	say("state %u", info.tcpi_state);
}

int main(void)
{
	int fd = MUST(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP)), fds[2], server, queued = -1;
	struct dialer dialer;
	char name[16];
	socklen_t length = sizeof name;

	TITLE("fresh");
	what_it_is(fd);
	set_all(fd);
	state(fd);
	close(fd);

	TITLE("listener");
	server = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SET(server, IPPROTO_TCP, TCP_NODELAY, 1);
	SET(server, SOL_SOCKET, SO_KEEPALIVE, 1);
	MUST(bind_to(server, HERE, 0));
	MUST(listen(server, 5));
	readable(server, 0);
	what_it_is(server);
	state(server);

	TITLE("accepted: what the listener was given");
	dial(&dialer, port_of(server));
	fds[0] = MUST(accept(server, NULL, NULL));
	fds[1] = dialed(&dialer);
	SHOW(fds[0], IPPROTO_TCP, TCP_NODELAY);
	SHOW(fds[0], SOL_SOCKET, SO_KEEPALIVE);

	TITLE("connected");
	what_it_is(fds[1]);
	state(fds[1]);
	state(fds[0]);
	SET(fds[1], SOL_SOCKET, SO_KEEPALIVE, 1);
	SET(fds[1], IPPROTO_TCP, TCP_NODELAY, 1);
	SHOW(fds[1], IPPROTO_TCP, TCP_NODELAY);
	SAY(getsockopt(fds[1], IPPROTO_TCP, TCP_CONGESTION, name, &length) == 0);
	SAY(getsockopt(fds[1], IPPROTO_TCP, TCP_MAXSEG, &queued, &(socklen_t){ sizeof queued }) == 0);
	SAY(ioctl(fds[1], SIOCOUTQ, &queued));
	say("%d", queued);
	ping(fds[0], fds[1]);
	close(fds[0]), close(fds[1]), close(server);

	TITLE("other kinds");
	fd = MUST(socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP));
	what_it_is(fd);
	SHOW(fd, SOL_SOCKET, SO_BROADCAST);
	close(fd);
	SAY_FD(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
	SAY_FD(socket(AF_INET, 77, 0));
	SAY_FD(socket(999, SOCK_STREAM, 0));
	fd = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	what_it_is(fd);
	close(fd);
	return 0;
}
