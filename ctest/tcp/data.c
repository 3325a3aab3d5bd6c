// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Bytes: how many come, in which parts, and which are left after what goes wrong. */
#include "sockets.h"

SCENARIO(peek, .pairs = 2)
{
	int fds[2];

	pair(fds);
	deliver(fds[0], fds[1], "hello");
	check_receive("first", fds[1], 3, MSG_PEEK);
	check_receive("again", fds[1], 16, MSG_PEEK);
	check_receive("waitall", fds[1], 3, MSG_PEEK | MSG_WAITALL);
	check_receive("taken", fds[1], 3, 0);
	check_receive("rest", fds[1], 16, MSG_PEEK);
	check_receive("dontwait", fds[1], 16, MSG_PEEK | MSG_DONTWAIT);
	check_receive("rest.taken", fds[1], 16, 0);
	check_receive("nothing", fds[1], 16, MSG_PEEK | MSG_DONTWAIT);
	MUST(call.shutdown(fds[0], SHUT_WR));
	settle(fds[1], POLLIN | POLLRDHUP);
	check_receive("end", fds[1], 16, MSG_PEEK);
}

SCENARIO(waitall, .pairs = 2)
{
	struct later later;
	char room[8] = { 0 };
	struct iovec parts[2] = { { room, 3 }, { room + 3, 5 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	int fds[2];

	pair(fds);
	deliver(fds[0], fds[1], "he");
	do_later(&later, later_send, fds[0], 3);
	check_receive("waits", fds[1], 5, MSG_WAITALL);
	was_done(&later);
	deliver(fds[0], fds[1], "he");
	check_receive("dontwait", fds[1], 5, MSG_WAITALL | MSG_DONTWAIT);
	deliver(fds[0], fds[1], "he");
	do_later(&later, later_send, fds[0], 3);
	check_receive("peek", fds[1], 5, MSG_WAITALL | MSG_PEEK);
	was_done(&later);
	settle(fds[1], POLLIN);
	nap(20);
	drain(fds[1]);
	deliver(fds[0], fds[1], "he");
	do_later(&later, later_send, fds[0], 6);
	CHECK("recvmsg", call.recvmsg(fds[1], &message, MSG_WAITALL));
	check("recvmsg.bytes", "%.8s", room);
	was_done(&later);
	set_timeout(fds[1], SO_RCVTIMEO, 200);
	deliver(fds[0], fds[1], "he");
	check_receive("timeout", fds[1], 5, MSG_WAITALL);
	deliver(fds[0], fds[1], "he");
	do_later(&later, later_shutdown, fds[0], SHUT_WR);
	check_receive("end", fds[1], 5, MSG_WAITALL);
	check_receive("end.again", fds[1], 5, MSG_WAITALL);
	was_done(&later);
}

SCENARIO(waitall_reset, .pairs = 2)
{
	struct later later;
	int fds[2];

	pair(fds);
	deliver(fds[0], fds[1], "he");
	do_later(&later, later_reset, fds[0], 0);
	check_receive("bytes", fds[1], 5, MSG_WAITALL);
	check_receive("error", fds[1], 5, MSG_WAITALL);
	check_receive("end", fds[1], 5, MSG_WAITALL);
	was_done(&later);
}

/* MSG_TRUNC throws away, and needs no memory. */
SCENARIO(discard, .pairs = 2)
{
	struct iovec parts[2] = { { NULL, 2 }, { NULL, 1 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	int fds[2];

	pair(fds);
	deliver(fds[0], fds[1], "hello, world, and all");
	CHECK("recvmsg.null", call.recvmsg(fds[1], &message, MSG_TRUNC));
	check_receive("recvmsg.then", fds[1], 3, MSG_PEEK);
	CHECK("recvmsg.null.peek", call.recvmsg(fds[1], &message, MSG_TRUNC | MSG_PEEK));
	CHECK("recvmsg.null.waitall", call.recvmsg(fds[1], &message, MSG_TRUNC | MSG_WAITALL));
	CHECK("null", call.recv(fds[1], NULL, 3, MSG_TRUNC));
	check_receive("then", fds[1], 3, MSG_PEEK);
	CHECK("null.peek", call.recv(fds[1], NULL, 3, MSG_TRUNC | MSG_PEEK));
	CHECK("null.waitall", call.recv(fds[1], NULL, 3, MSG_TRUNC | MSG_WAITALL));
	CHECK("more", call.recv(fds[1], NULL, 100, MSG_TRUNC));
	CHECK("empty", call.recv(fds[1], NULL, 100, MSG_TRUNC | MSG_DONTWAIT));
}

SCENARIO(errqueue, .pairs = 2)
{
	char room[16];
	struct iovec part = { room, 16 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[2];

	pair(fds);
	deliver(fds[0], fds[1], "hello");
	check_receive("recv", fds[1], 16, MSG_ERRQUEUE);
	check_receive("recv.dontwait", fds[1], 16, MSG_ERRQUEUE | MSG_DONTWAIT);
	CHECK("recvmsg", call.recvmsg(fds[1], &message, MSG_ERRQUEUE));
	CHECK("recvfrom", call.recvfrom(fds[1], room, 16, MSG_ERRQUEUE, NULL, NULL));
	check_receive("peek", fds[1], 16, MSG_ERRQUEUE | MSG_PEEK);
	check_receive("untouched", fds[1], 16, 0);
	check_receive("empty", fds[1], 16, MSG_ERRQUEUE);
}

SCENARIO(urgent, .pairs = 2)
{
	int fds[2];

	pair(fds);
	CHECK("send", call.send(fds[0], "abc", 3, MSG_OOB));
	settle(fds[1], POLLIN);
	check_events("events", fds[1]);
	check_receive("recv", fds[1], 16, 0);
	check_receive("urgent", fds[1], 16, MSG_OOB);
	check_receive("urgent.again", fds[1], 16, MSG_OOB);
	CHECK("inline", set_int(fds[1], SOL_SOCKET, SO_OOBINLINE, 1));
	CHECK("inline.send", call.send(fds[0], "d", 1, MSG_OOB));
	nap(20);
	check_receive("inline.recv", fds[1], 16, MSG_DONTWAIT);
}

SCENARIO(vectors, .pairs = 2)
{
	static char bytes[2048], room[2048];
	static struct iovec many[1024];
	struct iovec huge[2] = { { bytes, 1 }, { bytes, (size_t)-1 } };
	struct iovec parts[4] = { { NULL, 0 }, { "hel", 3 }, { "", 0 }, { "lo", 2 } };
	struct iovec into[3] = { { room, 1 }, { NULL, 0 }, { room + 1, 9 } };
	struct msghdr message = { .msg_iov = huge, .msg_iovlen = 2 };
	int fds[2];

	pair(fds);
	set_blocking(fds[1], 0);
	CHECK("writev", call.writev(fds[0], parts, 4));
	settle(fds[1], POLLIN);
	CHECK("readv", call.readv(fds[1], into, 3));
	check("readv.bytes", "%.5s", room);
	CHECK("readv.empty", call.readv(fds[1], into, 3));
	CHECK("writev.huge", call.writev(fds[0], huge, 2));
	CHECK("sendmsg.huge", call.sendmsg(fds[0], &message, 0));
	CHECK("readv.huge", call.readv(fds[1], huge, 2));
	CHECK("recvmsg.huge", call.recvmsg(fds[1], &message, 0));
	for (int i = 0; i < 1024; i++) {
		bytes[i] = 'a' + i % 26;
		many[i] = (struct iovec){ bytes + i, 1 };
	}
	CHECK("writev.1024", call.writev(fds[0], many, 1024));
	settle(fds[1], POLLIN);
	nap(10);
	for (int i = 0; i < 1024; i++)
		many[i] = (struct iovec){ room + i, 1 };
	CHECK("readv.1024", call.readv(fds[1], many, 1024));
	check("readv.1024.bytes", "%s", memcmp(bytes, room, 1024) ? "other" : "the same");
	CHECK("writev.zero_parts", call.writev(fds[0], (struct iovec[]){ { bytes, 0 }, { bytes, 0 } }, 2));
	nap(10);
	check_events("nothing_came", fds[1]);
}

/* What is said of memory that is not there, and what has been read or sent by then. */
SCENARIO(bad_memory, .pairs = 4)
{
	char room[8] = { 0 };
	struct iovec read_parts[2] = { { room, 2 }, { NULL, 3 } }, write_parts[2] = { { "he", 2 }, { NULL, 3 } };
	struct msghdr message = { .msg_iov = read_parts, .msg_iovlen = 2 };
	int fds[2];

	pair(fds);
	deliver(fds[0], fds[1], "hello");
	CHECK("recv", call.recv(fds[1], NULL, 5, 0));
	CHECK("readv", call.readv(fds[1], read_parts, 2));
	CHECK("recvmsg", call.recvmsg(fds[1], &message, 0));
	check_receive("left", fds[1], 16, MSG_DONTWAIT);
	message.msg_iov = write_parts;
	pair(fds);
	CHECK("send", call.send(fds[0], NULL, 5, MSG_NOSIGNAL));
	nap(10);
	check_receive("send.arrived", fds[1], 16, MSG_DONTWAIT);
	CHECK("writev", call.writev(fds[0], write_parts, 2));
	nap(10);
	check_receive("writev.arrived", fds[1], 16, MSG_DONTWAIT);
	CHECK("sendmsg", call.sendmsg(fds[0], &message, MSG_NOSIGNAL));
	nap(10);
	check_receive("sendmsg.arrived", fds[1], 16, MSG_DONTWAIT);
	check_state("then", fds[0]);
	/* Nothing to write to, and nothing to write. */
	CHECK("recv.empty", call.recv(fds[1], NULL, 5, MSG_DONTWAIT));
	MUST(call.shutdown(fds[0], SHUT_WR));
	settle(fds[1], POLLIN | POLLRDHUP);
	CHECK("recv.end", call.recv(fds[1], NULL, 5, 0));
}

/* SO_RCVLOWAT: who waits waits for so many. */
SCENARIO(low_water, .pairs = 2)
{
	struct later later;
	struct epoll_event event = { .events = EPOLLIN }, got;
	int fds[2], set = MUST(call.epoll_create1(0));

	pair(fds);
	CHECK("set", set_int(fds[1], SOL_SOCKET, SO_RCVLOWAT, 5));
	MUST(call.epoll_ctl(set, EPOLL_CTL_ADD, fds[1], &event));
	MUST(call.send(fds[0], "he", 2, 0));
	nap(30);
	check_events("below", fds[1]);
	CHECK("below.epoll", call.epoll_wait(set, &got, 1, 0));
	MUST(call.send(fds[0], "llo", 3, 0));
	nap(30);
	check_events("reached", fds[1]);
	CHECK("reached.epoll", call.epoll_wait(set, &got, 1, 0));
	check_receive("recv", fds[1], 3, 0);
	check_events("below.again", fds[1]);
	check_receive("dontwait", fds[1], 16, MSG_DONTWAIT);
	do_later(&later, later_send, fds[0], 5);
	check_receive("blocking", fds[1], 16, 0);
	was_done(&later);
	drain(fds[1]);
	set_timeout(fds[1], SO_RCVTIMEO, 200);
	MUST(call.send(fds[0], "he", 2, 0));
	nap(30);
	check_receive("timeout", fds[1], 16, 0);
	drain(fds[1]);
	MUST(call.send(fds[0], "he", 2, 0));
	MUST(call.shutdown(fds[0], SHUT_WR));
	nap(30);
	check_events("end", fds[1]);
	check_receive("end.recv", fds[1], 16, 0);
}

static long send_one(int fd)
{
	return call.send(fd, "x", 1, 0);
}

static long send_one_dontwait(int fd)
{
	return call.send(fd, "x", 1, MSG_DONTWAIT);
}

static long write_one(int fd)
{
	return call.write(fd, "x", 1);
}

/* A kernel finds a little room again for a while. */
static long when_full(int fd, long (*run)(int))
{
	long got = 0;

	for (int i = 0; i < 10 && got >= 0; i++) {
		fill(fd);
		got = run(fd);
	}
	return got;
}

/* A sender that has filled everything, and a reader that makes room. */
SCENARIO(full, .pairs = 2)
{
	static char block[65536];
	int fds[2];

	pair(fds);
	check("sent", "%s", fill(fds[0]) > 0 ? "some" : "nothing");
	check_events("full", fds[0]);
	CHECK("dontwait", when_full(fds[0], send_one_dontwait));
	set_timeout(fds[0], SO_SNDTIMEO, 200);
	CHECK("timeout", when_full(fds[0], send_one));
	set_blocking(fds[0], 0);
	CHECK("nonblocking", when_full(fds[0], write_one));
	CHECK("zero", call.send(fds[0], "x", 0, 0));
	check("read", "%s", drain(fds[1]) > 0 ? "some" : "nothing");
	for (int quiet = 0; quiet < 20; quiet++) {
		quiet = drain(fds[1]) ? 0 : quiet;
		nap(1);
	}
	settle(fds[0], POLLOUT);
	check_events("room", fds[0]);
	CHECK("send.after", call.send(fds[0], block, 1000, 0));
}

/* A blocking send sends all, or what it could within its time. */
SCENARIO(send_timeout, .pairs = 2)
{
	static char block[8 << 20];
	int fds[2];
	double start = now();
	long sent;

	pair(fds);
	set_timeout(fds[0], SO_SNDTIMEO, 200);
	sent = call.send(fds[0], block, sizeof block, 0);
	check_time("time", start, 0.2);
	check("sent", "%s", sent == sizeof block ? "all" : sent > 0 ? "a part" : errno_name(errno));
	CHECK("again", when_full(fds[0], send_one));
	check("read", "%s", drain(fds[1]) > 0 ? "some" : "nothing");
}

static long sent_in_thread;

static void *send_block(void *arg)
{
	static char block[3 << 20];

	for (unsigned i = 0; i < sizeof block; i++)
		block[i] = (char)(i * 7 + i / 251);
	sent_in_thread = call.send(*(int *)arg, block, sizeof block, 0);
	return NULL;
}

SCENARIO(large, .pairs = 2)
{
	static char room[3 << 20];
	pthread_t thread;
	unsigned wrong = 0;
	int fds[2];

	pair(fds);
	MUST(-pthread_create(&thread, NULL, send_block, &fds[0]));
	CHECK("waitall", call.recv(fds[1], room, sizeof room, MSG_WAITALL));
	pthread_join(thread, NULL);
	CHECK("sent", sent_in_thread);
	for (unsigned i = 0; i < sizeof room; i++)
		wrong += room[i] != (char)(i * 7 + i / 251);
	check("wrong", "%u", wrong);
}

/* A send of nothing says nothing. */
SCENARIO(nothing, .pairs = 2)
{
	int fds[2];

	pair(fds);
	CHECK("send", call.send(fds[0], "x", 0, 0));
	CHECK("write", call.write(fds[0], "x", 0));
	CHECK("send.null", call.send(fds[0], NULL, 0, 0));
	nap(20);
	check_events("peer", fds[1]);
	check_receive("peer.recv", fds[1], 4, MSG_DONTWAIT);
	check_receive("zero", fds[1], 0, MSG_DONTWAIT);
	deliver(fds[0], fds[1], "hello");
	check_receive("zero.data", fds[1], 0, 0);
	check_receive("data", fds[1], 16, 0);
	set_timeout(fds[1], SO_RCVTIMEO, 100);
	check_receive("zero.blocking", fds[1], 0, 0);
	CHECK("read.blocking", call.read(fds[1], NULL, 0));
}

SCENARIO(more_follows, .pairs = 2)
{
	int fds[2];

	pair(fds);
	CHECK("more", call.send(fds[0], "he", 2, MSG_MORE));
	CHECK("last", call.send(fds[0], "llo", 3, 0));
	settle(fds[1], POLLIN);
	nap(20);
	check_receive("recv", fds[1], 16, 0);
	CHECK("cork", set_int(fds[0], IPPROTO_TCP, TCP_CORK, 1));
	CHECK("corked", call.send(fds[0], "hello", 5, 0));
	nap(20);
	check_events("held", fds[1]);
	CHECK("uncork", set_int(fds[0], IPPROTO_TCP, TCP_CORK, 0));
	settle(fds[1], POLLIN);
	check_receive("recv.uncorked", fds[1], 16, 0);
}
