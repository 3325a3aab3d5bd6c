// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The program closes an rsocket by close(2), and another rsocket of any kind gets its number; or it closes all descriptors. Calls that
 * are done in one step have nothing of the connection from before.
 * device: soft
 * network: yes
 */
#include "check.h"

enum { OLD = 'o', NEW = 'n' };

static int port = 7700;

/* A connection with a byte to read, whose descriptor is closed behind the library's back; its peer. */
static int left_behind(int *number)
{
	int fds[2];

	pair(port++, fds);
	rsend(fds[1], (char[]){ OLD }, 1, 0);
	CHECK("a byte of the old connection", rrecv(fds[0], (char[2]){ 0 }, 1, MSG_PEEK), 1, 0);
	rfcntl(fds[0], F_SETFL, O_NONBLOCK);
	/* The lowest free number is the next one's. */
	while (open("/dev/null", O_RDONLY) < fds[0])
		;
	close(fds[0]);
	*number = fds[0];
	return fds[1];
}

static int events(int fd)
{
	struct pollfd poll = { fd, POLLIN | POLLOUT, 0 };

	return rpoll(&poll, 1, 0) < 0 ? -1 : poll.revents;
}

static void a_new_stream(void)
{
	char byte = 0;
	int number, peer = left_behind(&number), fd = rsocket(AF_INET, SOCK_STREAM, 0);

	CHECK("a stream has the number", fd, number, 0);
	CHECK("a stream: rsend", rsend(fd, "x", 1, 0), -1, ENOTCONN);
	CHECK("a stream: rrecv", rrecv(fd, &byte, 1, 0), -1, ENOTCONN);
	CHECK("a stream: rpoll", events(fd), POLLOUT | POLLHUP, 0);
	CHECK("a stream: rclose", rclose(fd), 0, 0);
	CHECK("a stream: rsend after that", rsend(fd, "x", 1, 0), -1, EBADF);
	CHECK("a stream: rpoll after that", events(fd), POLLNVAL, 0);
	rclose(peer);
}

static void a_datagram_socket(void)
{
	char byte = 0;
	int number, peer = left_behind(&number), fd = rsocket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	CHECK("a datagram socket has the number", fd, number, 0);
	CHECK("a datagram socket: rsend", rsend(fd, "x", 1, 0), -1, EDESTADDRREQ);
	CHECK("a datagram socket: rrecv", rrecv(fd, &byte, 1, 0), -1, EAGAIN);
	CHECK("a datagram socket: rpoll", events(fd), POLLOUT, 0);
	rclose(fd);
	rclose(peer);
}

static void a_set(void)
{
	char byte = 0;
	int number, peer = left_behind(&number), fd = repoll_create(0);

	CHECK("a set has the number", fd, number, 0);
	CHECK("a set: rsend", rsend(fd, "x", 1, 0), -1, ENOTSOCK);
	CHECK("a set: rrecv", rrecv(fd, &byte, 1, 0), -1, ENOTSOCK);
	CHECK("a set: rpoll", events(fd), 0, 0);
	rclose(fd);
	rclose(peer);
}

static void an_accepted_one(void)
{
	int server = listener(port, 8), number, peer, fd;
	struct dialer dialer = { port++, -1 };
	char byte = 0;

	dial_thread(&dialer);
	peer = left_behind(&number);
	fd = raccept(server, NULL, NULL);
	/* Its own number is from before, when the request came. */
	CHECK_TRUE("an accepted one", fd >= 0 && fd != number);
	rsend(dialer.fd, (char[]){ NEW }, 1, 0);
	CHECK("an accepted one: rrecv", rrecv(fd, &byte, 1, 0) == 1 ? byte : -1, NEW, 0);
	rclose(fd);
	rclose(dialer.fd);
	rclose(server);
	rclose(peer);
}

static void all_closed(void)
{
	char byte = 0;
	int fds[2], own[2];

	pair(port++, fds);
	rsend(fds[1], (char[]){ OLD }, 1, 0);
	CHECK("all closed: before", rrecv(fds[0], (char[2]){ 0 }, 1, MSG_PEEK), 1, 0);
	for (int fd = 3; fd < 500; fd++)
		close(fd);
	pair(port++, own);
	rsend(own[1], (char[]){ NEW }, 1, 0);
	CHECK("all closed: a new connection", rrecv(own[0], &byte, 1, 0) == 1 ? byte : -1, NEW, 0);
	for (int i = 0; i < 2; i++) {
		if (fds[i] == own[0] || fds[i] == own[1])
			continue;
		CHECK("all closed: rsend", rsend(fds[i], "x", 1, 0), -1, EBADF);
		CHECK("all closed: rrecv", rrecv(fds[i], &byte, 1, MSG_DONTWAIT), -1, EBADF);
	}
}

int main(void)
{
	a_new_stream();
	a_datagram_socket();
	a_set();
	an_accepted_one();
	all_closed();
	return finish();
}
