// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Making connections: refused, twice, later, in time, to addresses of every kind, and AF_UNSPEC. */
#include "sockets.h"

static int connect_any(int fd, const void *to, socklen_t length)
{
	return call.connect(fd, to, length);
}

static int later_socket(void)
{
	int fd = stream();

	set_blocking(fd, 0);
	return fd;
}

SCENARIO(connect_refused)
{
	int fd = stream(), server;

	CHECK("first", connect_to(fd, HERE, NO_PORT));
	check_state("first.then", fd);
	check_names("first.names", fd);
	CHECK("second", connect_to(fd, HERE, NO_PORT));
	CHECK("send", call.send(fd, "x", 1, MSG_NOSIGNAL));
	CHECK("third", connect_to(fd, HERE, NO_PORT));
	check_receive("recv", fd, 1, 0);
	server = listener(4);
	know_port(port_of(server), "the listener");
	CHECK("somebody listens", connect_to(fd, HERE, port_of(server)));
	CHECK("connected", connect_to(fd, HERE, port_of(server)));
	check_names("connected.names", fd);
}

SCENARIO(connect_later, .pairs = 2)
{
	int server = listener(4), fd = later_socket(), peer;
	pthread_t thread = begin_accept(server);

	know_port(port_of(server), "the listener");
	CHECK("connect", connect_to(fd, HERE, port_of(server)));
	settle(fd, POLLOUT);
	check_state("arrived", fd);
	CHECK("connect.again", connect_to(fd, HERE, port_of(server)));
	CHECK("connect.third", connect_to(fd, HERE, port_of(server)));
	CHECK("connect.elsewhere", connect_to(fd, HERE, NO_PORT));
	peer = end_accept(thread);
	check_events("accepted", peer);
	CHECK("send", call.send(fd, "hello", 5, 0));
	settle(peer, POLLIN);
	check_receive("recv", peer, 16, 0);
}

/* What is sent, or asked for, first makes the connection known as well as a second connect does. */
SCENARIO(connect_later_then_send, .pairs = 2)
{
	int server = listener(4), fd = later_socket();

	begin_accept(server);
	CHECK("connect", connect_to(fd, HERE, port_of(server)));
	settle(fd, POLLOUT);
	CHECK("send", call.send(fd, "hello", 5, 0));
	CHECK("connect.again", connect_to(fd, HERE, port_of(server)));
	CHECK("connect.third", connect_to(fd, HERE, port_of(server)));
}

SCENARIO(connect_later_then_blocking)
{
	int server = listener(4), fd = later_socket();

	CHECK("connect", connect_to(fd, HERE, port_of(server)));
	set_blocking(fd, 1);
	CHECK("connect.again", connect_to(fd, HERE, port_of(server)));
	CHECK("connect.third", connect_to(fd, HERE, port_of(server)));
}

SCENARIO(connect_refused_later)
{
	int fd = later_socket();

	CHECK("connect", connect_to(fd, HERE, NO_PORT));
	settle(fd, POLLERR | POLLHUP);
	check_events("refused", fd);
	CHECK("connect.tells", connect_to(fd, HERE, NO_PORT));
	check_state("told", fd);
	CHECK("connect.another", connect_to(fd, HERE, NO_PORT));
	settle(fd, POLLERR | POLLHUP);
	check_state("another.then", fd);
	CHECK("connect.after_so_error", connect_to(fd, HERE, NO_PORT));
	CHECK("connect.once_more", connect_to(fd, HERE, NO_PORT));
	settle(fd, POLLERR | POLLHUP);
	check_receive("recv.tells", fd, 1, 0);
	check_receive("recv.after", fd, 1, 0);
	CHECK("connect.after_recv", connect_to(fd, HERE, NO_PORT));
}

SCENARIO(connect_refused_later_then_send)
{
	int fd = later_socket();

	CHECK("connect", connect_to(fd, HERE, NO_PORT));
	settle(fd, POLLERR | POLLHUP);
	CHECK("send", call.send(fd, "x", 1, MSG_NOSIGNAL));
	CHECK("send.again", call.send(fd, "x", 1, MSG_NOSIGNAL));
	check_state("then", fd);
	CHECK("shutdown", call.shutdown(fd, SHUT_RDWR));
	CHECK("connect.again", connect_to(fd, HERE, NO_PORT));
}

/* A connect to a host that is silent. */
SCENARIO(connect_silent)
{
	int fd = later_socket(), room = 0;
	socklen_t size = sizeof room;
	double start = now();

	know_port(80, "port 80");
	CHECK("connect", connect_to(fd, SILENT, 80));
	check_state("then", fd);
	CHECK("again", connect_to(fd, SILENT, 80));
	CHECK("elsewhere", connect_to(fd, HERE, NO_PORT));
	CHECK("send", call.send(fd, "x", 1, MSG_NOSIGNAL));
	check_receive("recv", fd, 1, 0);
	CHECK("listen", call.listen(fd, 1));
	CHECK("getpeername", call.getpeername(fd, (struct sockaddr *)&(struct sockaddr_in){ 0 }, &size));
	CHECK("close", call.close(fd));
	check_time("close.time", start, 0);

	fd = stream();
	set_timeout(fd, SO_SNDTIMEO, 300);
	start = now();
	CHECK("timeout", connect_to(fd, SILENT, 80));
	check_time("timeout.time", start, 0.3);
	CHECK("timeout.again", connect_to(fd, SILENT, 80));
	check_state("timeout.then", fd);
	CHECK("timeout.close", call.close(fd));
}

SCENARIO(connect_silent_shutdown)
{
	int fd = later_socket();

	CHECK("connect", connect_to(fd, SILENT, 80));
	CHECK("shutdown", call.shutdown(fd, SHUT_RDWR));
	check_state("then", fd);
	check_receive("recv", fd, 1, 0);
	CHECK("send", call.send(fd, "x", 1, MSG_NOSIGNAL));
	CHECK("connect.again", connect_to(fd, HERE, NO_PORT));
}

static long connect_silent_host(int fd)
{
	return connect_to(fd, SILENT, 80);
}

static void handled(int number)
{
	(void)number;
}

SCENARIO(connect_interrupted)
{
	static struct blocked blocked;
	struct sigaction action = { .sa_handler = handled };
	int fd = stream();

	watch_no_calls();
	sigaction(SIGUSR1, &action, NULL);
	block(&blocked, connect_silent_host, fd);
	check_interrupted("connect", &blocked, SIGUSR1);
	set_blocking(fd, 0);
	CHECK("again", connect_to(fd, SILENT, 80));
	check_state("then", fd);
}

/* Another thread gives up what a blocking connect waits for. */
SCENARIO(connect_blocking_shutdown)
{
	static struct blocked blocked;
	int fd = stream();

	block(&blocked, connect_silent_host, fd);
	CHECK("shutdown", call.shutdown(fd, SHUT_RDWR));
	check_blocked("connect", &blocked);
}

static void check_connect(const char *name, const void *to, socklen_t length)
{
	int fd = later_socket();

	CHECK(name, connect_any(fd, to, length));
	check_events(named("%s.then", name), fd);
	call.close(fd);
}

SCENARIO(connect_addresses)
{
	int server = listener(64), port = port_of(server);
	struct sockaddr_storage to = { 0 };
	struct sockaddr_in here = address(HERE, port);
	struct sockaddr_in6 here6 = address6(HERE6, port);
	struct sockaddr_in other;

	memcpy(&to, &here, sizeof here);
	check_connect("length_16", &to, 16);
	check_connect("length_17", &to, 17);
	check_connect("length_128", &to, 128);
	check_connect("length_129", &to, 129);
	check_connect("length_15", &to, 15);
	check_connect("length_2", &to, 2);
	check_connect("length_1", &to, 1);
	check_connect("length_0", &to, 0);
	check_connect("length_negative", &to, -1);
	check_connect("inet6", &here6, sizeof here6);
	to.ss_family = AF_UNIX;
	check_connect("unix", &to, 16);
	to.ss_family = 77;
	check_connect("family_77", &to, 16);
	to.ss_family = AF_UNSPEC;
	check_connect("unspec", &to, 16);
	check_connect("unspec_2", &to, 2);
	other = address(HERE, 0);
	check_connect("port_0", &other, sizeof other);
	other = address("192.0.2.1", 80);
	check_connect("no_route", &other, sizeof other);
	other = address("10.77.0.255", 80);
	check_connect("broadcast", &other, sizeof other);
	other = address("255.255.255.255", 80);
	check_connect("limited_broadcast", &other, sizeof other);
	other = address("224.0.0.1", 80);
	check_connect("multicast", &other, sizeof other);
	CHECK("null", connect_any(stream(), NULL, 16));
	CHECK("null_0", connect_any(stream(), NULL, 0));
}

SCENARIO(connect_inet6_addresses)
{
	int fd = MUST(call.socket(AF_INET6, SOCK_STREAM, 0));
	struct sockaddr_in6 here6 = address6(HERE6, NO_PORT);
	struct sockaddr_in here = address(HERE, NO_PORT);

	CHECK("inet", connect_any(fd, &here, sizeof here));
	CHECK("length_16", connect_any(fd, &here6, 16));
	CHECK("length_23", connect_any(fd, &here6, 23));
	CHECK("length_24", connect_any(fd, &here6, 24));
	CHECK("length_28", connect_any(fd, &here6, 28));
	check_state("then", fd);
	here6.sin6_addr.s6_addr[0] = 0x20;
	CHECK("no_route", connect_any(fd, &here6, sizeof here6));
}

SCENARIO(connect_inet6, .pairs = 2)
{
	int server = MUST(call.socket(AF_INET6, SOCK_STREAM, 0)), fd = MUST(call.socket(AF_INET6, SOCK_STREAM, 0)), peer;
	struct sockaddr_in6 own = address6(HERE6, 0);
	struct sockaddr_storage from = { 0 };
	socklen_t length = sizeof from;
	pthread_t thread;

	check_names("fresh", server);
	CHECK("bind", call.bind(server, (struct sockaddr *)&own, sizeof own));
	CHECK("listen", call.listen(server, 4));
	know_port(port_of(server), "the listener");
	poll_now(server, POLLIN);
	check_names("listener", server);
	own.sin6_port = htons(port_of(server));
	thread = begin_accept(server);
	CHECK("connect", call.connect(fd, (struct sockaddr *)&own, sizeof own));
	know_port(port_of(fd), "the client");
	peer = end_accept(thread);
	call.getpeername(peer, (struct sockaddr *)&from, &length);
	check("accept.from", "%s", name_text(&from, length));
	check_names("client", fd);
	check_names("accepted", peer);
	deliver(fd, peer, "hello");
	check_receive("recv", peer, 16, 0);
}

/* A wildcard listener is met under each of its addresses. */
SCENARIO(connect_wildcard, .pairs = 2)
{
	int server = stream(), fd = stream(), peer;
	pthread_t thread;

	CHECK("bind", bind_to(server, "0.0.0.0", 0));
	CHECK("listen", call.listen(server, 4));
	know_port(port_of(server), "the listener");
	poll_now(server, POLLIN);
	check_names("listener", server);
	thread = begin_accept(server);
	CHECK("connect", connect_to(fd, HERE, port_of(server)));
	peer = end_accept(thread);
	know_port(port_of(fd), "the client");
	check_names("client", fd);
	check_names("accepted", peer);
}

SCENARIO(connect_to_wildcard)
{
	int server = stream(), fd = later_socket();

	MUST(bind_to(server, "0.0.0.0", 0));
	MUST(call.listen(server, 4));
	know_port(port_of(server), "the listener");
	poll_now(server, POLLIN);
	CHECK("connect", connect_to(fd, "0.0.0.0", port_of(server)));
	settle(fd, POLLOUT);
	check_state("then", fd);
	know_port(port_of(fd), "the client");
	check_names("client", fd);
}

/* A bound socket keeps its name. */
SCENARIO(connect_bound, .pairs = 2)
{
	int server = listener(4), fd = stream(), peer;
	pthread_t thread = begin_accept(server);

	know_port(port_of(server), "the listener");
	CHECK("bind", bind_to(fd, HERE, 0));
	know_port(port_of(fd), "the client");
	check_names("bound", fd);
	CHECK("connect", connect_to(fd, HERE, port_of(server)));
	check_names("connected", fd);
	peer = end_accept(thread);
	check_names("accepted", peer);
	CHECK("bind.again", bind_to(fd, HERE, 0));
	CHECK("bind.other", bind_to(stream(), HERE, port_of(fd)));
}

/* To itself: the two requests cross. */
SCENARIO(connect_self)
{
	int fd = later_socket();

	CHECK("bind", bind_to(fd, HERE, 0));
	CHECK("connect", connect_to(fd, HERE, port_of(fd)));
	settle(fd, POLLOUT);
	check_state("then", fd);
	CHECK("send", call.send(fd, "x", 1, MSG_NOSIGNAL));
	settle(fd, POLLIN);
	check_receive("recv", fd, 1, 0);
}

SCENARIO(connect_unspec, .pairs = 2)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int server = listener(4), fds[2];

	know_port(port_of(server), "the listener");
	pair_of(server, fds);
	know_port(port_of(fds[0]), "the client");
	CHECK("dissolve", call.connect(fds[0], &none, sizeof none));
	check_state("then", fds[0]);
	check_names("then", fds[0]);
	settle(fds[1], POLLIN);
	check_events("peer", fds[1]);
	check_receive("peer.recv", fds[1], 1, 0);
	check_receive("peer.recv.again", fds[1], 1, 0);
	CHECK("send", call.send(fds[0], "x", 1, MSG_NOSIGNAL));
	CHECK("twice", call.connect(fds[0], &none, sizeof none));
	CHECK("connect.again", connect_to(fds[0], HERE, port_of(server)));
	check_state("connected.again", fds[0]);
	CHECK("bound", bind_to(stream(), HERE, 0));
}

SCENARIO(connect_unspec_connecting)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = later_socket();

	CHECK("connect", connect_to(fd, SILENT, 80));
	CHECK("dissolve", call.connect(fd, &none, sizeof none));
	check_state("then", fd);
	CHECK("connect.again", connect_to(fd, HERE, NO_PORT));
}

SCENARIO(connect_unspec_listening)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int server = listener(4), port = port_of(server);

	CHECK("dissolve", call.connect(server, &none, sizeof none));
	check_state("then", server);
	CHECK("accept", call.accept(server, NULL, NULL));
	CHECK("connect", connect_to(stream(), HERE, port));
	CHECK("listen.again", call.listen(server, 4));
}

/* Clients are connected before anybody accepts, in their order, with what they have sent. */
SCENARIO(connect_backlog, .pairs = 6, .queued = 1)
{
	int server = listener(8), clients[3];
	char text[2] = "a";

	for (int i = 0; i < 3; i++) {
		clients[i] = stream();
		CHECK(named("connect.%d", i), connect_to(clients[i], HERE, port_of(server)));
		text[0] = 'a' + i;
		CHECK(named("send.%d", i), call.send(clients[i], text, 1, 0));
	}
	for (int i = 0; i < 3; i++) {
		int peer = CHECK_FD(named("accept.%d", i), call.accept(server, NULL, NULL));

		settle(peer, POLLIN);
		check_receive(named("recv.%d", i), peer, 4, 0);
	}
	check_events("empty", server);
}
