// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names and listeners: bind, listen, accept and what accepted sockets begin with. */
#include "sockets.h"

static int bind_any(int fd, const void *own, socklen_t length)
{
	return call.bind(fd, own, length);
}

SCENARIO(bind_addresses)
{
	struct sockaddr_in own = address(HERE, 0);
	struct sockaddr_in6 own6 = address6(HERE6, 0);
	struct sockaddr_storage room = { 0 };
	int fd;

	memcpy(&room, &own, sizeof own);
	CHECK("length_15", bind_any(stream(), &room, 15));
	CHECK("length_0", bind_any(stream(), &room, 0));
	CHECK("length_negative", bind_any(stream(), &room, -1));
	CHECK("length_129", bind_any(stream(), &room, 129));
	CHECK("length_128", bind_any(stream(), &room, 128));
	CHECK("null", bind_any(stream(), NULL, 16));
	CHECK("null_0", bind_any(stream(), NULL, 0));
	CHECK("inet6", bind_any(stream(), &own6, sizeof own6));
	room.ss_family = AF_UNIX;
	CHECK("unix", bind_any(stream(), &room, 16));
	room.ss_family = AF_UNSPEC;
	CHECK("unspec", bind_any(stream(), &room, 16));
	((struct sockaddr_in *)&room)->sin_addr.s_addr = 0;
	CHECK("unspec_any", bind_any(stream(), &room, 16));
	CHECK("foreign", bind_to(stream(), "192.0.2.1", 0));
	CHECK("neighbour", bind_to(stream(), SILENT, 0));
	CHECK("broadcast", bind_to(stream(), "10.77.0.255", 0));
	CHECK("limited_broadcast", bind_to(stream(), "255.255.255.255", 0));
	CHECK("multicast", bind_to(stream(), "224.0.0.1", 0));
	CHECK("loopback", bind_to(stream(), "127.0.0.1", 0));
	fd = stream();
	CHECK("any", bind_to(fd, "0.0.0.0", 0));
	check_names("any.names", fd);
	fd = stream();
	CHECK("here", bind_to(fd, HERE, 0));
	check("here.port", "%s", port_of(fd) > 1023 ? "a port" : "none");
	check_names("here.names", fd);
	CHECK("again", bind_to(fd, HERE, 0));
	CHECK("same", bind_to(fd, HERE, port_of(fd)));
	fd = MUST(call.socket(AF_INET6, SOCK_STREAM, 0));
	CHECK("inet", bind_any(fd, &own, sizeof own));
	CHECK("inet6_short", bind_any(fd, &own6, 23));
	own6.sin6_addr.s6_addr[0] = 0x20;
	CHECK("inet6_foreign", bind_any(fd, &own6, sizeof own6));
	own6 = address6(HERE6, 0);
	CHECK("inet6_here", bind_any(fd, &own6, sizeof own6));
}

/* Who may have the same port, and when. */
SCENARIO(bind_conflicts)
{
	int one, two, port;

	one = stream(), two = stream();
	MUST(bind_to(one, HERE, 0));
	port = port_of(one);
	CHECK("taken", bind_to(two, HERE, port));
	CHECK("taken.any", bind_to(two, "0.0.0.0", port));
	CHECK("taken.loopback", bind_to(two, "127.0.0.1", port));
	call.close(two);
	two = stream();
	MUST(set_int(two, SOL_SOCKET, SO_REUSEADDR, 1));
	CHECK("reuse_one_side", bind_to(two, HERE, port));
	MUST(set_int(one, SOL_SOCKET, SO_REUSEADDR, 1));
	CHECK("reuse_too_late", bind_to(two, HERE, port));
	call.close(one);
	CHECK("given_back", bind_to(two, HERE, port));
	call.close(two);

	one = stream(), two = stream();
	MUST(set_int(one, SOL_SOCKET, SO_REUSEADDR, 1));
	MUST(set_int(two, SOL_SOCKET, SO_REUSEADDR, 1));
	MUST(bind_to(one, HERE, 0));
	port = port_of(one);
	CHECK("reuse.both", bind_to(two, HERE, port));
	CHECK("reuse.listen.first", call.listen(one, 2));
	CHECK("reuse.listen.second", call.listen(two, 2));
	call.close(two);
	two = stream();
	MUST(set_int(two, SOL_SOCKET, SO_REUSEADDR, 1));
	CHECK("reuse.over_listener", bind_to(two, HERE, port));
	CHECK("reuse.any_over_listener", bind_to(two, "0.0.0.0", port));
	call.close(one);
	CHECK("reuse.after_listener", bind_to(two, HERE, port));
	call.close(two);

	one = stream(), two = stream();
	MUST(bind_to(one, "0.0.0.0", 0));
	port = port_of(one);
	CHECK("any.taken", bind_to(two, HERE, port));
	CHECK("any.taken.any", bind_to(two, "0.0.0.0", port));
}

/* A server that starts again while connections of the one before have not ended, or have. */
SCENARIO(bind_restart, .pairs = 4)
{
	int server = listener(4), port = port_of(server), fds[2], next = stream();

	pair_of(server, fds);
	call.close(server);
	CHECK("connection_lives", bind_to(next, HERE, port));
	MUST(set_int(next, SOL_SOCKET, SO_REUSEADDR, 1));
	CHECK("connection_lives.reuse", bind_to(next, HERE, port));
	call.close(next);
	/* The accepted side ends first. */
	call.close(fds[1]);
	settle(fds[0], POLLIN | POLLRDHUP);
	call.close(fds[0]);
	next = stream();
	CHECK("time_wait", bind_to(next, HERE, port));
	call.close(next);

	server = stream();
	MUST(set_int(server, SOL_SOCKET, SO_REUSEADDR, 1));
	MUST(bind_to(server, HERE, 0));
	MUST(call.listen(server, 4));
	poll_now(server, POLLIN);
	port = port_of(server);
	pair_of(server, fds);
	call.close(server);
	next = stream();
	MUST(set_int(next, SOL_SOCKET, SO_REUSEADDR, 1));
	CHECK("reuse.connection_lives", bind_to(next, HERE, port));
	CHECK("reuse.listen", call.listen(next, 4));
}

SCENARIO(listen_states)
{
	int fd = stream(), other;

	CHECK("unbound", call.listen(fd, 4));
	check("unbound.port", "%s", port_of(fd) ? "a port" : "none");
	know_port(port_of(fd), "the listener");
	check_names("unbound.names", fd);
	CHECK("twice", call.listen(fd, 8));
	CHECK("negative", call.listen(fd, -1));
	CHECK("zero", call.listen(fd, 0));
	CHECK("large", call.listen(fd, 1000000));
	CHECK("bind", bind_to(fd, HERE, 0));
	CHECK("connect", connect_to(fd, HERE, NO_PORT));
	check_receive("recv", fd, 1, 0);
	CHECK("send", call.send(fd, "x", 1, MSG_NOSIGNAL));
	check_state("then", fd);
	other = stream();
	MUST(bind_to(other, HERE, 0));
	CHECK("bound", call.listen(other, 1));
	CHECK("bound.shutdown", call.shutdown(other, SHUT_RDWR));
	CHECK("bound.again", call.listen(other, 1));
	CHECK("closed", call.close(other));
	CHECK("closed.again", call.close(other));
	CHECK("negative_descriptor", call.listen(-1, 1));
}

struct clients {
	int done, waiting, failed;
};

static struct clients count(const int *fds, int number)
{
	struct clients clients = { 0, 0, 0 };

	for (int i = 0; i < number; i++) {
		int events = poll_now(fds[i], POLLOUT);

		clients.failed += !!(events & (POLLERR | POLLHUP));
		clients.done += events == POLLOUT;
		clients.waiting += events == 0;
	}
	return clients;
}

/* More clients than the backlog has room for: who is told what. */
SCENARIO(listen_overflow, .pairs = 2, .queued = 1)
{
	struct clients before = { 0, 0, 0 }, clients = before;
	int server = listener(2), fds[8];

	for (int i = 0; i < 8; i++) {
		fds[i] = stream();
		set_blocking(fds[i], 0);
		connect_to(fds[i], HERE, port_of(server));
	}
	for (int quiet = 0; quiet < 30; quiet++, before = clients) {
		nap(10);
		clients = count(fds, 8);
		quiet = memcmp(&clients, &before, sizeof before) ? 0 : quiet;
	}
	check("backlog_2", "%d connected, %d waiting, %d refused", clients.done, clients.waiting, clients.failed);
	for (int i = 0; i < 3; i++)
		CHECK_FD(named("accept.%d", i), call.accept(server, NULL, NULL));
}

static int later_client(int server)
{
	int fd = stream();

	MUST(connect_to(fd, HERE, port_of(server)));
	settle(server, POLLIN);
	return fd;
}

/* Every client has its own accept with its own arguments; whether the client was taken is told by the next one. */
static void check_accept(const char *name, int null_address, int null_length, int length)
{
	int server = listener(4), client = later_client(server), fd;
	struct sockaddr_storage from;
	socklen_t room = length;

	set_blocking(server, 0);
	memset(&from, 0xff, sizeof from);
	fd = CHECK_FD(name, call.accept(server, null_address ? NULL : (struct sockaddr *)&from,
					null_length ? NULL : &room));
	check(named("%s.length", name), "%d, byte %d untouched", (int)room, ((unsigned char *)&from)[12] == 0xff);
	nap(20);
	check_events(named("%s.queue", name), server);
	if (fd < 0)
		settle(client, POLLIN);
	check_state(named("%s.client", name), client);
	call.close(server);
	call.close(client);
	if (fd >= 0)
		call.close(fd);
}

SCENARIO(accept_arguments, .pairs = 2, .queued = 1)
{
	check_accept("whole", 0, 0, 128);
	check_accept("exact", 0, 0, 16);
	check_accept("short", 0, 0, 4);
	check_accept("zero", 0, 0, 0);
	check_accept("negative", 0, 0, -1);
	check_accept("null", 1, 0, 16);
	check_accept("both_null", 1, 1, 16);
	check_accept("null_length", 0, 1, 16);
}

SCENARIO(accept_wrong)
{
	int fd = stream(), fds[2];

	CHECK("fresh", call.accept(fd, NULL, NULL));
	MUST(bind_to(fd, HERE, 0));
	CHECK("bound", call.accept(fd, NULL, NULL));
	MUST(call.listen(fd, 1));
	set_blocking(fd, 0);
	CHECK("nobody", call.accept(fd, NULL, NULL));
	set_timeout(fd, SO_RCVTIMEO, 100);
	CHECK("nobody.timeout_too", call.accept(fd, NULL, NULL));
	CHECK("shutdown", call.shutdown(fd, SHUT_RD));
	CHECK("ended", call.accept(fd, NULL, NULL));
	pair(fds);
	CHECK("connected", call.accept(fds[0], NULL, NULL));
	CHECK("datagram", call.accept(datagram(), NULL, NULL));
	CHECK("datagram.listen", call.listen(datagram(), 1));
	CHECK("negative", call.accept(-1, NULL, NULL));
}

/* What an accepted socket has of its listener. */
SCENARIO(accept_inherits, .pairs = 2, .queued = 1)
{
	static const struct {
		const char *name;
		int level, option, value;
	} options[] = { { "keepalive", SOL_SOCKET, SO_KEEPALIVE, 1 },
			{ "reuseaddr", SOL_SOCKET, SO_REUSEADDR, 1 },
			{ "oobinline", SOL_SOCKET, SO_OOBINLINE, 1 },
			{ "rcvlowat", SOL_SOCKET, SO_RCVLOWAT, 3 },
			{ "priority", SOL_SOCKET, SO_PRIORITY, 2 },
			{ "nodelay", IPPROTO_TCP, TCP_NODELAY, 1 },
			{ "keepidle", IPPROTO_TCP, TCP_KEEPIDLE, 77 },
			{ "keepintvl", IPPROTO_TCP, TCP_KEEPINTVL, 7 },
			{ "keepcnt", IPPROTO_TCP, TCP_KEEPCNT, 5 },
			{ "user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT, 7000 },
			{ "tos", IPPROTO_IP, IP_TOS, 8 } };
	int server = stream(), client = stream(), fd;
	struct linger linger = { 1, 7 };
	struct timeval limit = { 7, 0 };
	socklen_t size = sizeof linger;

	for (unsigned i = 0; i < sizeof options / sizeof options[0]; i++)
		CHECK(named("set.%s", options[i].name),
		      set_int(server, options[i].level, options[i].option, options[i].value));
	MUST(call.setsockopt(server, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
	MUST(call.setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	MUST(call.setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
	MUST(bind_to(server, HERE, 0));
	MUST(call.listen(server, 4));
	poll_now(server, POLLIN);
	MUST(connect_to(client, HERE, port_of(server)));
	settle(server, POLLIN);
	set_blocking(server, 0);
	MUST(call.fcntl(server, F_SETFD, FD_CLOEXEC));
	fd = MUST(call.accept(server, NULL, NULL));
	check("nonblock", "%d", !!(call.fcntl(fd, F_GETFL) & O_NONBLOCK));
	check("cloexec", "%d", call.fcntl(fd, F_GETFD));
	for (unsigned i = 0; i < sizeof options / sizeof options[0]; i++) {
		int value = -1;

		size = sizeof value;
		call.getsockopt(fd, options[i].level, options[i].option, &value, &size);
		check(named("got.%s", options[i].name), "%d", value);
	}
	size = sizeof linger;
	linger.l_linger = -1;
	call.getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &size);
	check("got.linger", "%d %d", linger.l_onoff, linger.l_linger);
	size = sizeof limit;
	call.getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &size);
	check("got.rcvtimeo", "%ld", (long)limit.tv_sec);
	call.getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &size);
	check("got.sndtimeo", "%ld", (long)limit.tv_sec);
}

/* Clients that have ended before they were accepted. */
SCENARIO(accept_ended_client, .pairs = 2, .queued = 1)
{
	int server = listener(4), client = later_client(server), fd;

	MUST(call.send(client, "bye", 3, 0));
	MUST(call.close(client));
	nap(20);
	check_events("queue", server);
	fd = CHECK_FD("accept", call.accept(server, NULL, NULL));
	settle(fd, POLLIN | POLLRDHUP);
	check_events("accepted", fd);
	check_receive("recv", fd, 16, 0);
	check_receive("recv.again", fd, 16, 0);
	check_state("then", fd);
}

SCENARIO(accept_reset_client, .pairs = 2, .queued = 1)
{
	int server = listener(4), client = later_client(server), fd;

	set_linger(client, 1, 0);
	MUST(call.close(client));
	nap(50);
	check_events("queue", server);
	set_blocking(server, 0);
	fd = CHECK_FD("accept", call.accept(server, NULL, NULL));
	if (fd < 0)
		return;
	check_events("accepted", fd);
	check_names("accepted", fd);
	check_receive("recv", fd, 16, 0);
	check_receive("recv.again", fd, 16, 0);
}

/* A listener goes while clients stand in its queue: they were connected, and are aborted. */
SCENARIO(listener_closed, .pairs = 2, .queued = 1)
{
	int server = listener(4), port = port_of(server), client = later_client(server), fd;

	MUST(call.close(server));
	settle(client, POLLIN | POLLERR | POLLHUP);
	check_events("client", client);
	check_receive("recv", client, 16, 0);
	check_receive("recv.again", client, 16, 0);
	CHECK("send", call.send(client, "x", 1, MSG_NOSIGNAL));
	fd = stream();
	CHECK("connect", connect_to(fd, HERE, port));
}

SCENARIO(listener_shutdown, .pairs = 2, .queued = 1)
{
	int server = listener(4), port = port_of(server), client = later_client(server), fd;

	know_port(port, "the listener");
	set_blocking(server, 0);
	CHECK("write", call.shutdown(server, SHUT_WR));
	CHECK("read", call.shutdown(server, SHUT_RD));
	check_state("then", server);
	CHECK("accept", call.accept(server, NULL, NULL));
	check_names("names", server);
	settle(client, POLLIN | POLLERR | POLLHUP);
	check_events("client", client);
	check_receive("client.recv", client, 1, 0);
	fd = stream();
	CHECK("connect", connect_to(fd, HERE, port));
	call.close(fd);
	CHECK("listen.again", call.listen(server, 4));
	poll_now(server, POLLIN);
	fd = stream();
	CHECK("connect.again", connect_to(fd, HERE, port));
	settle(server, POLLIN);
	CHECK_FD("accept.again", call.accept(server, NULL, NULL));
}

static long accept_one(int fd)
{
	int got = call.accept(fd, NULL, NULL);

	return got < 0 ? got : 0;
}

SCENARIO(accept_blocking, .pairs = 2)
{
	static struct blocked blocked;
	int server = listener(4), client;
	double start;

	set_timeout(server, SO_RCVTIMEO, 200);
	start = now();
	CHECK("timeout", call.accept(server, NULL, NULL));
	check_time("timeout.time", start, 0.2);
	set_timeout(server, SO_RCVTIMEO, 0);
	block(&blocked, accept_one, server);
	client = stream();
	CHECK("connect", connect_to(client, HERE, port_of(server)));
	check_blocked("client", &blocked);
	block(&blocked, accept_one, server);
	CHECK("shutdown", call.shutdown(server, SHUT_RDWR));
	check_blocked("ended", &blocked);
}
