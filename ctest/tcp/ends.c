// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How connections end: half closed, closed, aborted, killed; and what each side is told, once and afterwards. */
#include "sockets.h"

#include <sys/wait.h>

static volatile sig_atomic_t pipes;

static void on_pipe(int number)
{
	(void)number;
	pipes++;
}

/* After an end everything is asked twice. */
static void check_end(const char *name, int fd)
{
	check_events(named("%s.events", name), fd);
	check_receive(named("%s.recv", name), fd, 32, 0);
	check_receive(named("%s.recv.again", name), fd, 32, 0);
	check_receive(named("%s.recv.third", name), fd, 32, 0);
	check_state(named("%s.state", name), fd);
	CHECK(named("%s.send", name), call.send(fd, "x", 1, MSG_NOSIGNAL));
	nap(20);
	CHECK(named("%s.send.again", name), call.send(fd, "x", 1, MSG_NOSIGNAL));
	check_state(named("%s.last", name), fd);
	CHECK(named("%s.shutdown", name), call.shutdown(fd, SHUT_RDWR));
}

/* The same end with the first call another one. */
static void check_end_by_send(const char *name, int fd)
{
	CHECK(named("%s.send", name), call.send(fd, "x", 1, MSG_NOSIGNAL));
	nap(20);
	check_state(named("%s.state", name), fd);
	CHECK(named("%s.send.again", name), call.send(fd, "x", 1, MSG_NOSIGNAL));
	CHECK(named("%s.send.third", name), call.send(fd, "x", 1, MSG_NOSIGNAL));
	check_receive(named("%s.recv", name), fd, 32, 0);
	check_receive(named("%s.recv.again", name), fd, 32, 0);
}

static int tcp_state(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof info;

	return call.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) ? -1 : info.tcpi_state;
}

/* One side ends and goes on reading. */
SCENARIO(half_close, .pairs = 2)
{
	int fds[2];

	pair(fds);
	MUST(call.send(fds[0], "request", 7, 0));
	CHECK("shutdown", call.shutdown(fds[0], SHUT_WR));
	settle(fds[1], POLLIN | POLLRDHUP);
	check_events("peer", fds[1]);
	/* Its end is acknowledged by then. */
	nap(60);
	check("tcp_state", "%d %d", tcp_state(fds[0]), tcp_state(fds[1]));
	check_receive("peer.recv", fds[1], 32, 0);
	check_receive("peer.end", fds[1], 32, 0);
	check_receive("peer.end.again", fds[1], 32, 0);
	check_events("own", fds[0]);
	CHECK("send", call.send(fds[0], "x", 1, MSG_NOSIGNAL));
	CHECK("peer.send", call.send(fds[1], "answer", 6, 0));
	settle(fds[0], POLLIN);
	check_receive("recv", fds[0], 32, 0);
	CHECK("peer.shutdown", call.shutdown(fds[1], SHUT_WR));
	settle(fds[0], POLLIN | POLLRDHUP | POLLHUP);
	check_state("own.then", fds[0]);
	check_state("peer.then", fds[1]);
	check("tcp_state.then", "%d", tcp_state(fds[1]));
	check_receive("end", fds[0], 32, 0);
	CHECK("shutdown.again", call.shutdown(fds[0], SHUT_WR));
	CHECK("peer.shutdown.again", call.shutdown(fds[1], SHUT_RDWR));
	CHECK("close", call.close(fds[0]));
	CHECK("peer.close", call.close(fds[1]));
}

SCENARIO(half_close_twice, .pairs = 2)
{
	int fds[2];

	pair(fds);
	CHECK("write", call.shutdown(fds[0], SHUT_WR));
	CHECK("write.again", call.shutdown(fds[0], SHUT_WR));
	CHECK("read", call.shutdown(fds[0], SHUT_RD));
	check_events("both", fds[0]);
	settle(fds[1], POLLIN | POLLRDHUP);
	CHECK("peer.send", call.send(fds[1], "x", 1, MSG_NOSIGNAL));
	nap(20);
	check_state("peer.then", fds[1]);
	CHECK("peer.send.again", call.send(fds[1], "x", 1, MSG_NOSIGNAL));
	check_receive("recv", fds[0], 8, 0);
	check_state("then", fds[0]);
}

/* Nothing keeps the peer from sending to who does not want to read. */
SCENARIO(shut_read, .pairs = 2)
{
	int fds[2];

	pair(fds);
	set_blocking(fds[0], 0);
	CHECK("shutdown", call.shutdown(fds[0], SHUT_RD));
	check_events("own", fds[0]);
	check_receive("recv", fds[0], 8, 0);
	nap(20);
	check_events("peer", fds[1]);
	CHECK("peer.send", call.send(fds[1], "hello", 5, MSG_NOSIGNAL));
	nap(20);
	check_state("peer.then", fds[1]);
	check_receive("recv.late", fds[0], 8, 0);
	check_receive("recv.again", fds[0], 8, 0);
	CHECK("send", call.send(fds[0], "answer", 6, MSG_NOSIGNAL));
	settle(fds[1], POLLIN);
	check_receive("peer.recv", fds[1], 8, 0);
	CHECK("close", call.close(fds[0]));
	settle(fds[1], POLLIN);
	check_state("peer.last", fds[1]);
}

SCENARIO(close_clean, .pairs = 4)
{
	int fds[2];

	pair(fds);
	MUST(call.send(fds[1], "last words", 10, 0));
	CHECK("close", call.close(fds[1]));
	settle(fds[0], POLLIN | POLLRDHUP);
	check("tcp_state", "%d", tcp_state(fds[0]));
	check_end("read", fds[0]);
	pair(fds);
	CHECK("close.again", call.close(fds[1]));
	settle(fds[0], POLLIN | POLLRDHUP);
	CHECK("send_zero", call.send(fds[0], "", 0, MSG_NOSIGNAL));
	check_end_by_send("send", fds[0]);
}

/* The bytes that the peer had not read are lost: it says so. */
SCENARIO(close_over_data, .pairs = 6)
{
	int fds[2];

	pair(fds);
	deliver(fds[0], fds[1], "unread");
	CHECK("close", call.close(fds[1]));
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	check("tcp_state", "%d", tcp_state(fds[0]));
	check_end("read", fds[0]);
	pair(fds);
	deliver(fds[0], fds[1], "unread");
	MUST(call.close(fds[1]));
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	check_end_by_send("send", fds[0]);
	pair(fds);
	deliver(fds[0], fds[1], "unread");
	MUST(call.send(fds[1], "last words", 10, 0));
	settle(fds[0], POLLIN);
	MUST(call.close(fds[1]));
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	check_end("last_words", fds[0]);
}

/* What arrives for who has closed is answered by an abort. */
SCENARIO(close_then_data, .pairs = 2)
{
	int fds[2];

	pair(fds);
	CHECK("shutdown", call.shutdown(fds[1], SHUT_WR));
	settle(fds[0], POLLIN | POLLRDHUP);
	CHECK("send", call.send(fds[0], "read", 4, MSG_NOSIGNAL));
	settle(fds[1], POLLIN);
	check_receive("peer.recv", fds[1], 8, 0);
	CHECK("peer.close", call.close(fds[1]));
	nap(20);
	check_events("closed", fds[0]);
	CHECK("send.late", call.send(fds[0], "late", 4, MSG_NOSIGNAL));
	nap(20);
	check_state("then", fds[0]);
	CHECK("send.again", call.send(fds[0], "late", 4, MSG_NOSIGNAL));
	check_receive("recv", fds[0], 8, 0);
}

SCENARIO(linger_zero, .pairs = 8)
{
	int fds[2];

	pair(fds);
	set_linger(fds[1], 1, 0);
	CHECK("close", call.close(fds[1]));
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	check("tcp_state", "%d", tcp_state(fds[0]));
	check_end("read", fds[0]);
	pair(fds);
	set_linger(fds[1], 1, 0);
	MUST(call.close(fds[1]));
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	check_end_by_send("send", fds[0]);
	pair(fds);
	deliver(fds[1], fds[0], "last words");
	set_linger(fds[1], 1, 0);
	MUST(call.close(fds[1]));
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	check_end("last_words", fds[0]);
	/* Both directions had ended in order: there is nothing to abort. */
	pair(fds);
	MUST(call.shutdown(fds[0], SHUT_WR));
	MUST(call.shutdown(fds[1], SHUT_WR));
	settle(fds[0], POLLIN | POLLRDHUP | POLLHUP);
	set_linger(fds[1], 1, 0);
	MUST(call.close(fds[1]));
	nap(20);
	check_end("both_shut", fds[0]);
}

/* After its own end a side hears of an abort, too. */
SCENARIO(linger_zero_half_closed, .pairs = 4)
{
	int fds[2];

	pair(fds);
	MUST(call.shutdown(fds[0], SHUT_WR));
	settle(fds[1], POLLIN | POLLRDHUP);
	set_linger(fds[1], 1, 0);
	MUST(call.close(fds[1]));
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	check_end("own_shut", fds[0]);
	pair(fds);
	MUST(call.shutdown(fds[1], SHUT_WR));
	settle(fds[0], POLLIN | POLLRDHUP);
	set_linger(fds[1], 1, 0);
	MUST(call.close(fds[1]));
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	check_end("peer_shut", fds[0]);
}

/* How long a close takes. */
SCENARIO(linger_time, .pairs = 6)
{
	int fds[2];
	double start;

	pair(fds);
	set_linger(fds[0], 1, 3);
	deliver(fds[0], fds[1], "hello");
	start = now();
	CHECK("delivered", call.close(fds[0]));
	check_time("delivered.time", start, 0);
	check_receive("delivered.recv", fds[1], 16, 0);
	check_receive("delivered.end", fds[1], 16, 0);
	call.close(fds[1]);

	pair(fds);
	set_linger(fds[0], 1, 1);
	fill(fds[0]);
	start = now();
	CHECK("full", call.close(fds[0]));
	check_time("full.time", start, 1);
	call.close(fds[1]);

	pair(fds);
	set_linger(fds[0], 1, 1);
	set_blocking(fds[0], 0);
	fill(fds[0]);
	start = now();
	CHECK("nonblocking", call.close(fds[0]));
	check_time("nonblocking.time", start, 1);
	call.close(fds[1]);
}

/* A close without SO_LINGER comes back at once, and what was sent still arrives. */
SCENARIO(close_full, .pairs = 2)
{
	int fds[2];
	long sent, got = 0, n;
	static char block[65536];
	double start;

	pair(fds);
	sent = fill(fds[0]);
	start = now();
	CHECK("close", call.close(fds[0]));
	check_time("close.time", start, 0);
	while ((n = call.recv(fds[1], block, sizeof block, 0)) > 0)
		got += n;
	CHECK("end", n);
	check("bytes", "%s", got == sent ? "all" : "lost some");
}

SCENARIO(shutdown_full, .pairs = 2)
{
	int fds[2];
	long sent, got = 0, n;
	static char block[65536];
	double start;

	pair(fds);
	sent = fill(fds[0]);
	start = now();
	CHECK("shutdown", call.shutdown(fds[0], SHUT_WR));
	check_time("shutdown.time", start, 0);
	while ((n = call.recv(fds[1], block, sizeof block, 0)) > 0)
		got += n;
	CHECK("end", n);
	check("bytes", "%s", got == sent ? "all" : "lost some");
}

PEER(says_and_waits)
{
	int fd = stream();

	alarm(20);
	if (connect_to(fd, HERE, port) || send_all(fd, "last words", 10) != 10)
		return 1;
	for (;;)
		pause();
}

static int meet(int server, const char *name, pid_t *pid)
{
	int fd;

	*pid = start_peer(name, port_of(server));
	fd = MUST(call.accept(server, NULL, NULL));
	settle(fd, POLLIN);
	return fd;
}

/* The kernel closes what a killed process had: in order, where it had read all, and by an abort where not. */
SCENARIO(killed_peer, .pairs = 2)
{
	int server = listener(4), fd;
	pid_t pid;

	fd = meet(server, "says_and_waits", &pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	settle(fd, POLLIN | POLLRDHUP);
	check_end("clean", fd);
	fd = meet(server, "says_and_waits", &pid);
	MUST(call.send(fd, "unread", 6, 0));
	nap(50);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	settle(fd, POLLIN | POLLERR | POLLHUP);
	check_end("over_data", fd);
}

PEER(says_and_exits)
{
	int fd = stream();

	alarm(20);
	if (connect_to(fd, HERE, port) || send_all(fd, "last words", 10) != 10)
		return 1;
	_exit(0);
}

/* A process that ends without a close. */
SCENARIO(exited_peer, .pairs = 2)
{
	int server = listener(4), fd;
	pid_t pid;

	fd = meet(server, "says_and_exits", &pid);
	waitpid(pid, NULL, 0);
	settle(fd, POLLIN | POLLRDHUP);
	check_end("end", fd);
}

static long recv_one(int fd)
{
	char byte;

	return call.recv(fd, &byte, 1, 0);
}

static long send_much(int fd)
{
	static const char block[65536];
	long n;

	while ((n = call.send(fd, block, sizeof block, MSG_NOSIGNAL)) > 0)
		;
	return n;
}

static long poll_all(int fd)
{
	struct pollfd one = { fd, POLLIN | POLLPRI | POLLRDHUP, 0 };
	int count = call.poll(&one, 1, 5000);

	return count < 0 ? count : one.revents;
}

/* A reader, a writer and a waiter are asleep when the connection ends. */
SCENARIO(ends_wake, .pairs = 2)
{
	static const struct {
		const char *name;
		void (*action)(int, int);
		int arg, own;
	} ends[] = { { "half_close", later_shutdown, SHUT_WR, 0 }, { "close", later_close, 0, 0 },
		     { "reset", later_reset, 0, 0 },		   { "shut_read", later_shutdown, SHUT_RD, 1 },
		     { "shut_write", later_shutdown, SHUT_WR, 1 }, { "shut_both", later_shutdown, SHUT_RDWR, 1 } };
	static struct blocked reader[6], waiter[6];
	static struct later later[6];

	for (int i = 0; i < 6; i++) {
		int fds[2];

		pair(fds);
		do_later(&later[i], ends[i].action, fds[!ends[i].own], ends[i].arg);
		block(&reader[i], recv_one, fds[0]);
		was_done(&later[i]);
		if (i == 4)
			later_send(fds[1], 1);
		check_blocked(named("%s.recv", ends[i].name), &reader[i]);
		check_state(named("%s.recv.then", ends[i].name), fds[0]);
		pair(fds);
		do_later(&later[i], ends[i].action, fds[!ends[i].own], ends[i].arg);
		block(&waiter[i], poll_all, fds[0]);
		was_done(&later[i]);
		if (i == 4)
			later_send(fds[1], 1);
		check_blocked(named("%s.poll", ends[i].name), &waiter[i]);
	}
}

SCENARIO(ends_wake_writer, .pairs = 2)
{
	static struct blocked writer[4];
	int fds[2];

	pair(fds);
	block(&writer[0], send_much, fds[0]);
	later_reset(fds[1], 0);
	check_blocked("reset", &writer[0]);
	pair(fds);
	block(&writer[1], send_much, fds[0]);
	later_close(fds[1], 0);
	check_blocked("close", &writer[1]);
	pair(fds);
	block(&writer[2], send_much, fds[0]);
	later_shutdown(fds[0], SHUT_WR);
	check_blocked("shut_write", &writer[2]);
	pair(fds);
	block(&writer[3], send_much, fds[0]);
	later_shutdown(fds[1], SHUT_RD);
	check_blocked("peer_shut_read", &writer[3]);
	later_close(fds[1], 0);
}

/* Which calls raise SIGPIPE, and when. */
SCENARIO(sigpipe, .pairs = 2)
{
	struct iovec part = { "x", 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[2], fd = stream();

	signal(SIGPIPE, on_pipe);
#define RAISES(name, expression)                                                          \
	({                                                                                \
		pipes = 0;                                                                \
		CHECK(name, expression);                                                  \
		check(named("%s.signals", name), "%d", (int)pipes);                       \
	})
	RAISES("fresh", call.send(fd, "x", 1, 0));
	pair(fds);
	MUST(call.shutdown(fds[0], SHUT_WR));
	RAISES("send", call.send(fds[0], "x", 1, 0));
	RAISES("send_nosignal", call.send(fds[0], "x", 1, MSG_NOSIGNAL));
	RAISES("send_zero", call.send(fds[0], "x", 0, 0));
	RAISES("write", call.write(fds[0], "x", 1));
	RAISES("writev", call.writev(fds[0], &part, 1));
	RAISES("sendmsg", call.sendmsg(fds[0], &message, 0));
	RAISES("sendmsg_nosignal", call.sendmsg(fds[0], &message, MSG_NOSIGNAL));
	RAISES("sendto", call.sendto(fds[0], "x", 1, 0, NULL, 0));
	pair(fds);
	later_reset(fds[1], 0);
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	RAISES("reset", call.send(fds[0], "x", 1, 0));
	RAISES("reset.again", call.send(fds[0], "x", 1, 0));
	pair(fds);
	later_close(fds[1], 0);
	settle(fds[0], POLLIN | POLLRDHUP);
	RAISES("closed", call.send(fds[0], "x", 1, 0));
	nap(50);
	RAISES("closed.again", call.send(fds[0], "x", 1, 0));
}

/* An error is told once: whoever asks first has it. */
SCENARIO(error_once, .pairs = 2)
{
	char room[4];
	struct iovec part = { room, 4 };
	int fds[2];

#define ABORTED()                                                                         \
	({                                                                                \
		pair(fds);                                                                \
		later_reset(fds[1], 0);                                                   \
		settle(fds[0], POLLIN | POLLERR | POLLHUP);                               \
	})
	ABORTED();
	check("so_error", "%s", errno_name(so_error(fds[0])));
	check("so_error.again", "%s", errno_name(so_error(fds[0])));
	check_receive("so_error.recv", fds[0], 4, 0);
	CHECK("so_error.send", call.send(fds[0], "x", 1, MSG_NOSIGNAL));
	ABORTED();
	check_receive("peek", fds[0], 4, MSG_PEEK);
	check_receive("peek.recv", fds[0], 4, 0);
	ABORTED();
	CHECK("readv", call.readv(fds[0], &part, 1));
	CHECK("readv.again", call.readv(fds[0], &part, 1));
	check("readv.so_error", "%s", errno_name(so_error(fds[0])));
	ABORTED();
	CHECK("send", call.send(fds[0], "x", 1, MSG_NOSIGNAL));
	check_receive("send.recv", fds[0], 4, 0);
	check("send.so_error", "%s", errno_name(so_error(fds[0])));
	ABORTED();
	check_receive("zero", fds[0], 0, 0);
	check_receive("zero.recv", fds[0], 4, 0);
	ABORTED();
	CHECK("shutdown", call.shutdown(fds[0], SHUT_WR));
	check_receive("shutdown.recv", fds[0], 4, 0);
	ABORTED();
	CHECK("connect", connect_to(fds[0], HERE, NO_PORT));
	check_receive("connect.recv", fds[0], 4, 0);
	CHECK("close", call.close(fds[0]));
}

/* An aborted socket can be used again, as a fresh one. */
SCENARIO(reset_then_again, .pairs = 2)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int server = listener(4), fds[2];

	pair_of(server, fds);
	later_reset(fds[1], 0);
	settle(fds[0], POLLIN | POLLERR | POLLHUP);
	CHECK("connect.aborted", connect_to(fds[0], HERE, port_of(server)));
	check_receive("recv", fds[0], 4, 0);
	CHECK("connect.told", connect_to(fds[0], HERE, port_of(server)));
	CHECK("dissolve", call.connect(fds[0], &none, sizeof none));
	CHECK("connect.fresh", connect_to(fds[0], HERE, port_of(server)));
	check_state("then", fds[0]);
}

/* Of a closed socket nothing is left. */
SCENARIO(closed_number, .pairs = 2)
{
	int fds[2];
	struct pollfd one;

	pair(fds);
	CHECK("close", call.close(fds[0]));
	CHECK("close.again", call.close(fds[0]));
	check_receive("recv", fds[0], 1, 0);
	CHECK("send", call.send(fds[0], "x", 1, MSG_NOSIGNAL));
	CHECK("shutdown", call.shutdown(fds[0], SHUT_RD));
	one = (struct pollfd){ fds[0], POLLIN, 0 };
	CHECK("poll", call.poll(&one, 1, 0));
	check("poll.events", "%s", event_names(one.revents));
}
