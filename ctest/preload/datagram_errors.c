// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What UDP refuses: addresses of another family, a second bind, a peer that is not there, however the program asks.
 * rdma: 2
 */
#include "common.h"

static int udp(int family)
{
	return MUST(socket(family, SOCK_DGRAM, 0));
}

static int bind6_to(int fd, const char *text, int port)
{
	struct sockaddr_in6 sin = ipv6(text, port);

	return bind(fd, (struct sockaddr *)&sin, sizeof sin);
}

static int connect6_to(int fd, const char *text, int port)
{
	struct sockaddr_in6 sin = ipv6(text, port);

	return connect(fd, (struct sockaddr *)&sin, sizeof sin);
}

static void binds(void)
{
	struct sockaddr_in sin = ipv4(HERE, 0);
	int v4 = udp(AF_INET), v6 = udp(AF_INET6), fd;

	TITLE("bind");
	SAY(bind_to(v6, HERE, 0));
	SAY(bind_to(v6, "0.0.0.0", 0));
	SAY(bind6_to(v4, HERE6, 0));
	SAY(bind6_to(v4, "::", 0));
	SAY(bind(v4, (struct sockaddr *)&sin, sizeof sin - 1));
	SAY(bind(v4, (struct sockaddr *)&sin, 1));
	SAY(bind_to(v4, NOBODY, 0));
	SAY(bind6_to(v6, "fd00:77::99", 0));
	SAY(bind_to(v4, HERE, 0));
	SAY(bind_to(v4, HERE, 0));
	SAY(bind_to(v4, "0.0.0.0", 0));
	SAY(bind6_to(v4, HERE6, 0));
	SAY(bind6_to(v6, HERE6, 0));
	SAY(bind6_to(v6, HERE6, 0));
	SAY(bind_to(v6, HERE, 0));
	fd = udp(AF_INET);
	SAY(bind_to(fd, HERE, port_of(v4)));
	SAY(connect_to(fd, HERE, port_of(v4)));
	SAY(bind_to(fd, HERE, 0));
	close(fd);
	fd = udp(AF_INET);
	sin = ipv4(HERE, port_of(v4));
	SAY(sendto(fd, "x", 1, 0, (struct sockaddr *)&sin, sizeof sin));
	SAY(bind_to(fd, HERE, 0));
	close(fd), close(v4), close(v6);
	fd = udp(AF_INET6);
	SAY(bind6_to(fd, "::ffff:" HERE, 0));
	SAY(bind6_to(fd, "::ffff:" HERE, 0));
	close(fd);
}

/* A port that was somebody's. */
static int dead_port(int family)
{
	int fd = udp(family), port;

	MUST(family == AF_INET ? bind_to(fd, HERE, 0) : bind6_to(fd, HERE6, 0));
	port = port_of(fd);
	close(fd);
	return port;
}

static void nobody(int family, int bound)
{
	int fd = udp(family), port = dead_port(family), set = epoll_create1(0);
	struct pollfd one = { fd, POLLIN | POLLOUT, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	char byte;

	say("-- nobody there, IPv%c, %s", family == AF_INET ? '4' : '6', bound ? "bound" : "not bound");
	if (bound)
		MUST(family == AF_INET ? bind_to(fd, HERE, 0) : bind6_to(fd, HERE6, 0));
	MUST(family == AF_INET ? connect_to(fd, HERE, port) : connect6_to(fd, HERE6, port));
	for (int i = 0; i < 4; i++) {
		SAY(send(fd, "x", 1, 0));
		nap(50);
	}
	SAY(send(fd, "x", 1, 0));
	SAY(send(fd, "x", 1, 0));
	nap(50);
	SAY(recv(fd, &byte, 1, MSG_DONTWAIT));
	SAY(recv(fd, &byte, 1, MSG_DONTWAIT));
	SAY(send(fd, "x", 1, 0));
	SAY(recv(fd, &byte, 1, 0));
	SAY(write(fd, "x", 1));
	nap(50);
	SAY(poll(&one, 1, 1000));
	say("[%s]", events(one.revents));
	say("SO_ERROR %s", errno_name(error_of(fd)));
	say("SO_ERROR %s", errno_name(error_of(fd)));
	MUST(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	SAY(epoll_wait(set, &event, 1, 0));
	SAY(send(fd, "x", 1, 0));
	SAY(epoll_wait(set, &event, 1, 1000));
	say("[%s]", events(event.events));
	SAY(read(fd, &byte, 1));
	close(fd), close(set);
}

/* A peer that comes later, and goes. */
static void somebody(void)
{
	int fd = udp(AF_INET), port = dead_port(AF_INET), peer;
	char byte = 0;

	TITLE("a peer that comes and goes");
	MUST(connect_to(fd, HERE, port));
	SAY(send(fd, "x", 1, 0));
	nap(50);
	SAY(send(fd, "x", 1, 0));
	peer = udp(AF_INET);
	MUST(bind_to(peer, HERE, port));
	SAY(send(fd, "y", 1, 0));
	SAY(recv(peer, &byte, 1, 0));
	say("%c", byte);
	/* More of them, which may go over the device by now. */
	for (int i = 0; i < 10; i++) {
		nap(20);
		MUST(send(fd, "z", 1, 0));
		MUST(recv(peer, &byte, 1, 0));
	}
	say("%c", byte);
	close(peer);
	close(fd);
}

/* Without a peer of its own a socket hears nothing of that. */
static void unconnected(void)
{
	struct sockaddr_in to = ipv4(HERE, dead_port(AF_INET));
	int fd = udp(AF_INET);
	char byte;

	TITLE("not connected");
	for (int i = 0; i < 3; i++) {
		SAY(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
		nap(50);
	}
	SAY(recv(fd, &byte, 1, MSG_DONTWAIT));
	say("SO_ERROR %s", errno_name(error_of(fd)));
	close(fd);
}

int main(void)
{
	binds();
	for (int bound = 0; bound < 2; bound++) {
		nobody(AF_INET, bound);
		nobody(AF_INET6, bound);
	}
	somebody();
	unconnected();
	return 0;
}
