// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Datagrams: UDP is the oracle. */
#include "sockets.h"

static long send_to(int fd, const char *text, int port)
{
	struct sockaddr_in to = address(HERE, port);

	return call.sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof to);
}

/* One datagram, with its sender. */
static void check_from(const char *name, int fd, long size, int flags)
{
	struct sockaddr_storage from = { 0 };
	socklen_t length = sizeof from;
	char room[64] = { 0 };
	ssize_t got;

	watch_call();
	got = call.recvfrom(fd, room, size, flags, (struct sockaddr *)&from, &length);
	if (got < 0 || call_was_asleep())
		check_result(name, got, errno);
	else
		check(name, "%zd %s from %s", got, room, name_text(&from, length));
}

SCENARIO(datagram_exchange)
{
	int one = bound_datagram(), two = bound_datagram();

	know_port(port_of(one), "the first");
	know_port(port_of(two), "the second");
	check_names("first", one);
	CHECK("sendto", send_to(one, "hello", port_of(two)));
	settle(two, POLLIN);
	check_events("events", two);
	check_from("recv", two, 16, 0);
	CHECK("answer", send_to(two, "world", port_of(one)));
	settle(one, POLLIN);
	check_from("answer.recv", one, 16, 0);
	CHECK("send", call.send(one, "x", 1, 0));
	CHECK("empty", send_to(one, "", port_of(two)));
	settle(two, POLLIN);
	check_from("empty.recv", two, 16, 0);
	check_from("nothing", two, 16, MSG_DONTWAIT);
}

/* A datagram that is longer than its room loses its rest. */
SCENARIO(datagram_truncated)
{
	char room[4] = { 0 };
	struct iovec part = { room, 3 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[2];

	datagram_pair(fds);
	deliver(fds[0], fds[1], "hello");
	MUST(call.send(fds[0], "world", 5, 0));
	MUST(call.send(fds[0], "again", 5, 0));
	MUST(call.send(fds[0], "last", 4, 0));
	nap(20);
	check_receive("peek", fds[1], 3, MSG_PEEK);
	CHECK("peek.trunc", call.recv(fds[1], room, 3, MSG_PEEK | MSG_TRUNC));
	check_receive("short", fds[1], 3, 0);
	CHECK("trunc", call.recv(fds[1], room, 3, MSG_TRUNC));
	CHECK("recvmsg", call.recvmsg(fds[1], &message, 0));
	check("recvmsg.flags", "0x%x", message.msg_flags);
	CHECK("trunc_null", call.recv(fds[1], NULL, 0, MSG_TRUNC));
	check_receive("empty", fds[1], 3, MSG_DONTWAIT);
	deliver(fds[0], fds[1], "hello");
	MUST(call.send(fds[0], "world", 5, 0));
	nap(20);
	check_receive("zero", fds[1], 0, 0);
	CHECK("waitall", call.recv(fds[1], room, 4, MSG_WAITALL));
	check_receive("then", fds[1], 16, MSG_DONTWAIT);
}

SCENARIO(datagram_connect)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int one = bound_datagram(), two = bound_datagram(), three = bound_datagram();

	know_port(port_of(one), "the first");
	know_port(port_of(two), "the second");
	know_port(port_of(three), "the third");
	CHECK("connect", connect_to(one, HERE, port_of(two)));
	check_names("connected", one);
	CHECK("send", call.send(one, "hello", 5, 0));
	settle(two, POLLIN);
	check_from("recv", two, 16, 0);
	CHECK("sendto_other", send_to(one, "other", port_of(three)));
	settle(three, POLLIN);
	check_from("other.recv", three, 16, 0);
	/* Only the peer is heard. */
	CHECK("stranger", send_to(three, "stranger", port_of(one)));
	nap(30);
	check_receive("stranger.recv", one, 16, MSG_DONTWAIT);
	CHECK("peer", send_to(two, "peer", port_of(one)));
	settle(one, POLLIN);
	check_from("peer.recv", one, 16, 0);
	CHECK("reconnect", connect_to(one, HERE, port_of(three)));
	check_names("reconnected", one);
	CHECK("send.reconnected", call.send(one, "hello", 5, 0));
	settle(three, POLLIN);
	check_from("recv.reconnected", three, 16, 0);
	CHECK("dissolve", call.connect(one, &none, sizeof none));
	check_names("dissolved", one);
	CHECK("send.dissolved", call.send(one, "x", 1, 0));
	CHECK("stranger.again", send_to(two, "stranger", port_of(one)));
	settle(one, POLLIN);
	check_from("stranger.heard", one, 16, 0);
	CHECK("dissolve.again", call.connect(one, &none, sizeof none));
}

/* A socket that nobody has bound gets its port with its first peer. */
SCENARIO(datagram_unbound)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int one = datagram(), two = bound_datagram();

	know_port(port_of(two), "the second");
	check_names("fresh", one);
	check_events("fresh.events", one);
	CHECK("connect", connect_to(one, HERE, port_of(two)));
	check_names("connected", one);
	CHECK("dissolve", call.connect(one, &none, sizeof none));
	check_names("dissolved", one);
	CHECK("sendto", send_to(one, "hello", port_of(two)));
	check("port", "%s", port_of(one) ? "a port" : "none");
	settle(two, POLLIN);
	check_from("recv", two, 16, 0);
	check_receive("nothing", one, 16, MSG_DONTWAIT);
	CHECK("bind", bind_to(one, HERE, 0));
}

/* Who is not there says so, to connected sockets. */
SCENARIO(datagram_to_nobody)
{
	int fd = datagram(), other = bound_datagram();

	CHECK("connect", connect_to(fd, HERE, NO_PORT));
	CHECK("send", call.send(fd, "lost", 4, 0));
	settle(fd, POLLERR);
	check_events("events", fd);
	CHECK("send.again", call.send(fd, "lost", 4, 0));
	CHECK("send.third", call.send(fd, "lost", 4, 0));
	settle(fd, POLLERR);
	check_receive("recv", fd, 16, MSG_DONTWAIT);
	check_receive("recv.again", fd, 16, MSG_DONTWAIT);
	MUST(call.send(fd, "lost", 4, 0));
	settle(fd, POLLERR);
	check("so_error", "%s", errno_name(so_error(fd)));
	check_state("then", fd);
	set_timeout(fd, SO_RCVTIMEO, 300);
	MUST(call.send(fd, "lost", 4, 0));
	check_receive("recv.blocking", fd, 16, 0);
	CHECK("sendto", send_to(other, "lost", NO_PORT));
	nap(30);
	check_state("unconnected", other);
	CHECK("sendto.again", send_to(other, "lost", NO_PORT));
}

/* The peer goes while its socket is connected to. */
SCENARIO(datagram_peer_closed)
{
	int fds[2];

	datagram_pair(fds);
	deliver(fds[1], fds[0], "hello");
	MUST(call.close(fds[1]));
	nap(20);
	check_events("events", fds[0]);
	check_receive("recv", fds[0], 16, 0);
	check_receive("nothing", fds[0], 16, MSG_DONTWAIT);
	CHECK("send", call.send(fds[0], "lost", 4, 0));
	settle(fds[0], POLLERR);
	check_state("then", fds[0]);
}

SCENARIO(datagram_sizes)
{
	static char block[70000], room[70000];
	static const int sizes[] = { 1, 1472, 2047, 2048, 4096, 9000, 65507, 65508, 70000 };
	int fds[2];

	datagram_pair(fds);
	for (unsigned i = 0; i < sizeof block; i++)
		block[i] = (char)(i * 7 + i / 251);
	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		long sent = CHECK(named("send_%d", sizes[i]), call.send(fds[0], block, sizes[i], 0)), got;

		if (sent < 0)
			continue;
		settle(fds[1], POLLIN);
		got = CHECK(named("recv_%d", sizes[i]), call.recv(fds[1], room, sizeof room, MSG_DONTWAIT));
		check(named("bytes_%d", sizes[i]), "%s", got == sizes[i] && !memcmp(block, room, got) ? "same" : "other");
	}
}

SCENARIO(datagram_addresses)
{
	struct sockaddr_in to = address(HERE, NO_PORT);
	struct sockaddr_in6 to6 = address6(HERE6, NO_PORT);
	int fd = bound_datagram();
	struct sockaddr_storage room = { 0 };

#define SENDTO(name, address, length)                                                     \
	CHECK(name, call.sendto(fd, "x", 1, 0, (struct sockaddr *)(address), length))
	SENDTO("length_15", &to, 15);
	SENDTO("length_0", &to, 0);
	SENDTO("length_negative", &to, -1);
	SENDTO("null", NULL, 16);
	SENDTO("inet6", &to6, sizeof to6);
	memcpy(&room, &to, sizeof to);
	SENDTO("length_128", &room, 128);
	SENDTO("length_129", &room, 129);
	room.ss_family = AF_UNIX;
	SENDTO("unix", &room, 16);
	room.ss_family = AF_UNSPEC;
	SENDTO("unspec", &room, 16);
	to = address(HERE, 0);
	SENDTO("port_0", &to, 16);
	to = address("192.0.2.1", 80);
	SENDTO("no_route", &to, 16);
	to = address("255.255.255.255", 80);
	SENDTO("limited_broadcast", &to, 16);
	to = address("10.77.0.255", 80);
	SENDTO("broadcast", &to, 16);
	CHECK("bind.foreign", bind_to(datagram(), "192.0.2.1", 0));
	CHECK("bind.inet6", call.bind(datagram(), (struct sockaddr *)&to6, sizeof to6));
	CHECK("bind.again", bind_to(fd, HERE, 0));
	CHECK("bind.taken", bind_to(datagram(), HERE, port_of(fd)));
	CHECK("connect.inet6", call.connect(fd, (struct sockaddr *)&to6, sizeof to6));
	CHECK("connect.short", call.connect(fd, (struct sockaddr *)&to, 15));
	CHECK("connect.port_0", connect_to(fd, HERE, 0));
	CHECK("connect.no_route", connect_to(fd, "192.0.2.1", 80));
	CHECK("connect.broadcast", connect_to(fd, "10.77.0.255", 80));
	check_events("then", fd);
}

SCENARIO(datagram_bind_conflicts)
{
	int one = datagram(), two = datagram(), port;

	MUST(set_int(one, SOL_SOCKET, SO_REUSEADDR, 1));
	MUST(set_int(two, SOL_SOCKET, SO_REUSEADDR, 1));
	MUST(bind_to(one, HERE, 0));
	port = port_of(one);
	CHECK("reuseaddr", bind_to(two, HERE, port));
	two = datagram();
	CHECK("plain", bind_to(two, HERE, port));
	CHECK("any", bind_to(two, "0.0.0.0", port));
	call.close(one);
	one = datagram(), two = datagram();
	MUST(set_int(one, SOL_SOCKET, SO_REUSEPORT, 1));
	MUST(set_int(two, SOL_SOCKET, SO_REUSEPORT, 1));
	MUST(bind_to(one, HERE, 0));
	CHECK("reuseport", bind_to(two, HERE, port_of(one)));
	one = datagram();
	MUST(bind_to(one, HERE, 0));
	port = port_of(one);
	CHECK("close", call.close(one));
	CHECK("after_close", bind_to(datagram(), HERE, port));
}

SCENARIO(datagram_wildcard)
{
	int one = datagram(), two = bound_datagram(), port;

	CHECK("bind", bind_to(one, "0.0.0.0", 0));
	port = port_of(one);
	know_port(port, "the first");
	know_port(port_of(two), "the second");
	check_names("bound", one);
	CHECK("sendto", send_to(two, "hello", port));
	settle(one, POLLIN);
	check_from("recv", one, 16, 0);
	CHECK("answer", send_to(one, "world", port_of(two)));
	settle(two, POLLIN);
	check_from("answer.recv", two, 16, 0);
	CHECK("connect", connect_to(one, HERE, port_of(two)));
	check_names("connected", one);
}

SCENARIO(datagram_inet6)
{
	struct sockaddr_in6 own = address6(HERE6, 0), peer = own;
	struct sockaddr_in v4 = address(HERE, NO_PORT + 1);
	int one = MUST(call.socket(AF_INET6, SOCK_DGRAM, 0)), two = MUST(call.socket(AF_INET6, SOCK_DGRAM, 0));

	check_names("fresh", one);
	CHECK("bind.inet", call.bind(one, (struct sockaddr *)&v4, sizeof v4));
	CHECK("bind", call.bind(one, (struct sockaddr *)&own, sizeof own));
	CHECK("bind.second", call.bind(two, (struct sockaddr *)&own, sizeof own));
	know_port(port_of(one), "the first");
	know_port(port_of(two), "the second");
	peer.sin6_port = htons(port_of(two));
	CHECK("sendto", call.sendto(one, "hello", 5, 0, (struct sockaddr *)&peer, sizeof peer));
	settle(two, POLLIN);
	check_from("recv", two, 16, 0);
	CHECK("connect.inet", call.connect(one, (struct sockaddr *)&v4, sizeof v4));
	CHECK("sendto.inet", call.sendto(one, "hello", 5, 0, (struct sockaddr *)&v4, sizeof v4));
	CHECK("connect", call.connect(one, (struct sockaddr *)&peer, sizeof peer));
	check_names("connected", one);
}

static long recv_one(int fd)
{
	char byte;

	return call.recv(fd, &byte, 1, 0);
}

/* Blocking receives: their limits, and what ends them. */
SCENARIO(datagram_blocking)
{
	static struct blocked blocked[4];
	int fds[2];
	double start;

	datagram_pair(fds);
	set_timeout(fds[0], SO_RCVTIMEO, 150);
	start = now();
	check_receive("timeout", fds[0], 1, 0);
	check_time("timeout.time", start, 0.15);
	set_timeout(fds[0], SO_RCVTIMEO, 0);
	block(&blocked[0], recv_one, fds[0]);
	later_send(fds[1], 3);
	check_blocked("data", &blocked[0]);
	check_receive("data.rest", fds[0], 16, MSG_DONTWAIT);
	block(&blocked[1], recv_one, fds[0]);
	CHECK("shutdown", call.shutdown(fds[0], SHUT_RD));
	check_blocked("shut_read", &blocked[1]);
	check_state("shut_read.then", fds[0]);
	check_receive("shut_read.recv", fds[0], 16, 0);
	later_send(fds[1], 3);
	nap(20);
	check_receive("shut_read.late", fds[0], 16, MSG_DONTWAIT);
	CHECK("shut_write", call.shutdown(fds[0], SHUT_WR));
	CHECK("shut_write.send", call.send(fds[0], "x", 1, MSG_NOSIGNAL));
	check_state("shut_write.then", fds[0]);
}

SCENARIO(datagram_polled)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET }, got;
	int fds[2], set = MUST(call.epoll_create1(0));

	datagram_pair(fds);
	MUST(call.epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
	CHECK("added", call.epoll_wait(set, &got, 1, 0));
	check("added.events", "%s", event_names(got.events));
	CHECK("again", call.epoll_wait(set, &got, 1, 0));
	for (int i = 0; i < 2; i++) {
		MUST(call.send(fds[1], "hello", 5, 0));
		CHECK(named("data_%d", i), call.epoll_wait(set, &got, 1, 1000));
		check(named("data_%d.events", i), "%s", event_names(got.events));
	}
	CHECK("data.again", call.epoll_wait(set, &got, 1, 30));
	check_receive("recv", fds[0], 16, 0);
	CHECK("partly_read", call.epoll_wait(set, &got, 1, 30));
	check_receive("recv.second", fds[0], 16, 0);
	check_events("read", fds[0]);
	deliver(fds[1], fds[0], "");
	check_events("zero", fds[0]);
	check_receive("zero.recv", fds[0], 16, MSG_DONTWAIT);
	check_events("zero.then", fds[0]);
}
