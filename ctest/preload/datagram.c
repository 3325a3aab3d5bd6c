// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Datagrams: names, connected and not, truncation, looking ahead, batches, polling, IPv6, both directions.
 * rdma: 8
 * fake: device name=fake0 type=roce ip=host
 */
#include "common.h"

static char buf[4096];

static int fresh(int family)
{
	return MUST(socket(family, SOCK_DGRAM, 0));
}

static int bound(void)
{
	int fd = fresh(AF_INET);

	MUST(bind_to(fd, HERE, 0));
	return fd;
}

static long send_to(int fd, const char *text, size_t size, int port)
{
	struct sockaddr_in to = ipv4(HERE, port);

	return sendto(fd, text, size, 0, (struct sockaddr *)&to, sizeof to);
}

/* Who sent it: a port of the two. */
static void receive(const char *what, int fd, int one, int two)
{
	struct sockaddr_in from = { 0 };
	socklen_t length = sizeof from;
	long n;

	memset(buf, 0, 64);
	if (!readable(fd, 3000)) {
		say("%s: nothing came", what);
		return;
	}
	n = recvfrom(fd, buf, sizeof buf, 0, (struct sockaddr *)&from, &length);
	int port = ntohs(from.sin_port);
	say("%s: %ld %.20s from %s, %s, length %u", what, n, buf, inet_ntoa(from.sin_addr),
	    port == one ? "the first" : port == two ? "the second" : "another", length);
}

static void exchange(void)
{
	int a = bound(), b = bound(), one = port_of(a), two = port_of(b);

	TITLE("both directions");
	SAY(recv(a, buf, 1, MSG_DONTWAIT));
	for (int i = 0; i < 3; i++) {
		SAY(send_to(a, "question", 8, two));
		receive("at the second", b, one, two);
		SAY(send_to(b, "answer", 6, one));
		receive("at the first", a, one, two);
	}
	SAY(send_to(a, "", 0, two));
	receive("empty", b, one, two);
	SAY(send_to(a, "self", 4, one));
	receive("to itself", a, one, two);
	for (size_t size = 1; size <= 1400; size = size * 3 + 2) {
		memset(buf, 'a' + (int)(size % 26), size);
		MUST(send_to(a, buf, size, two));
		receive("size", b, one, two);
	}
	SAY(send(a, "x", 1, 0));
	SAY(write(a, "x", 1));
	SAY(getpeername(a, (struct sockaddr *)&(struct sockaddr_in){ 0 }, &(socklen_t){ 16 }));
	SAY(listen(a, 1));
	SAY(accept(a, NULL, NULL));
	close(a), close(b);
}

static void pieces(void)
{
	int a = bound(), b = bound(), one = port_of(a), two = port_of(b), waiting = -1;
	struct iovec parts[2] = { { buf, 3 }, { buf + 100, 3 } }, out[2] = { { "twelve", 6 }, { "octets", 6 } };
	struct sockaddr_in name = ipv4(HERE, two);
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2, .msg_name = &name, .msg_namelen = sizeof name };

	TITLE("cut off, looked at");
	MUST(send_to(a, "0123456789", 10, two));
	MUST(send_to(a, "second", 6, two));
	readable(b, 3000);
	SAY(recv(b, buf, 4, MSG_PEEK));
	SAY(recv(b, buf, 4, MSG_PEEK | MSG_TRUNC));
	SAY(ioctl(b, FIONREAD, &waiting));
	say("%d", waiting);
	SAY(recv(b, buf, 4, MSG_TRUNC));
	receive("the rest is gone", b, one, two);
	SAY(sendmsg(a, &(struct msghdr){ .msg_iov = out, .msg_iovlen = 2, .msg_name = &name, .msg_namelen = sizeof name }, 0));
	readable(b, 3000);
	SAY(recvmsg(b, &message, 0));
	say("%.3s %.3s, cut %d, name %u, from the first %d", buf, buf + 100, !!(message.msg_flags & MSG_TRUNC), message.msg_namelen,
	    ntohs(name.sin_port) == one);
	MUST(send_to(a, "xyz", 3, two));
	readable(b, 3000);
	SAY(read(b, buf, 100));
	SAY(recv(b, buf, 4, MSG_DONTWAIT));
	close(a), close(b);
}

static void connected(void)
{
	int a = bound(), b = bound(), c = bound(), one = port_of(a), two = port_of(b);
	struct sockaddr_in name;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	socklen_t length = sizeof name;

	TITLE("connected");
	SAY(connect_to(a, HERE, two));
	SAY(getpeername(a, (struct sockaddr *)&name, &length));
	say("the second: %d", ntohs(name.sin_port) == two);
	SAY(send(a, "by send", 7, 0));
	receive("at the second", b, one, two);
	SAY(write(a, "by write", 8));
	receive("at the second", b, one, two);
	SAY(send_to(b, "back", 4, one));
	receive("at the first", a, one, two);
	/* Only the peer's datagrams come in. */
	SAY(send_to(c, "stranger", 8, one));
	SAY(send_to(b, "friend", 6, one));
	receive("at the first", a, one, two);
	SAY(recv(a, buf, 10, MSG_DONTWAIT));
	SAY(send_to(a, "elsewhere", 9, port_of(c)));
	receive("at the third", c, one, two);
	SAY(connect_to(a, HERE, port_of(c)));
	SAY(send(a, "changed", 7, 0));
	receive("at the third", c, one, two);
	SAY(connect(a, &none, sizeof none));
	SAY(getpeername(a, (struct sockaddr *)&name, &length));
	SAY(send(a, "x", 1, 0));
	/* Its port may be another from here on. */
	SAY(send_to(a, "again", 5, two));
	receive("at the second", b, port_of(a), two);
	close(a), close(b), close(c);
}

static void unbound(void)
{
	int a = fresh(AF_INET), b = fresh(AF_INET), two;
	struct sockaddr_in any = ipv4("0.0.0.0", 0);

	TITLE("without bind, and bound to the wildcard");
	say("port %d", port_of(a));
	SAY(bind(b, (struct sockaddr *)&any, sizeof any));
	two = port_of(b);
	SAY(send_to(a, "first", 5, two));
	say("a port now: %d", port_of(a) > 0);
	receive("at the wildcard", b, port_of(a), two);
	SAY(send_to(b, "answer", 6, port_of(a)));
	receive("answered", a, port_of(a), two);
	close(a);
	a = fresh(AF_INET);
	SAY(connect_to(a, HERE, two));
	struct sockaddr_in name = { 0 };
	MUST(getsockname(a, (struct sockaddr *)&name, &(socklen_t){ sizeof name }));
	say("own address %s", inet_ntoa(name.sin_addr));
	SAY(send(a, "connected", 9, 0));
	receive("at the wildcard", b, port_of(a), two);
	SAY(send_to(b, "answer", 6, port_of(a)));
	receive("answered", a, port_of(a), two);
	close(a), close(b);
}

static void batches(void)
{
	int a = bound(), b = bound(), two = port_of(b);
	struct sockaddr_in to = ipv4(HERE, two);
	struct iovec out[3] = { { "one", 3 }, { "three", 5 }, { "five", 4 } }, in[3];
	struct mmsghdr send_[3] = { 0 }, recv_[3] = { 0 };
	char rooms[3][8] = { "" };
	int got = 0;

	TITLE("batches");
	for (int i = 0; i < 3; i++) {
		in[i] = (struct iovec){ rooms[i], 7 };
		send_[i].msg_hdr = (struct msghdr){ .msg_iov = &out[i], .msg_iovlen = 1, .msg_name = &to, .msg_namelen = sizeof to };
		recv_[i].msg_hdr = (struct msghdr){ .msg_iov = &in[i], .msg_iovlen = 1 };
	}
	SAY(sendmmsg(a, send_, 3, 0));
	while (got < 3 && readable(b, 3000))
		got += MUST(recvmmsg(b, recv_ + got, 3 - got, MSG_DONTWAIT, NULL));
	say("%d: %s %s %s, %u %u %u", got, rooms[0], rooms[1], rooms[2], recv_[0].msg_len, recv_[1].msg_len, recv_[2].msg_len);
	SAY(recvmmsg(b, recv_, 3, MSG_DONTWAIT, NULL));
	close(a), close(b);
}

static void waiting(void)
{
	int a = bound(), b = bound(), two = port_of(b), set = MUST(epoll_create1(0)), copy;
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = 5 };
	struct timeval limit = { 0, 300000 };
	double start = now();
	fd_set in;

	TITLE("waiting");
	SAY(setsockopt(b, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	SAY(recv(b, buf, 1, 0));
	say("%s", in_time(start, 0.3));
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, b, &event));
	SAY(epoll_wait(set, &event, 1, 50));
	MUST(send_to(a, "one", 3, two));
	SAY(epoll_wait(set, &event, 1, 3000));
	say("[%s] data %u", events(event.events), event.data.u32);
	SAY(epoll_wait(set, &event, 1, 50));
	MUST(send_to(a, "two", 3, two));
	SAY(epoll_wait(set, &event, 1, 3000));
	FD_ZERO(&in);
	FD_SET(b, &in);
	SAY(select(b + 1, &in, NULL, NULL, &(struct timeval){ 3, 0 }));
	SAY(recv(b, buf, 10, 0));
	SAY(recv(b, buf, 10, 0));
	struct pollfd one = { b, POLLIN | POLLOUT, 0 };
	SAY(poll(&one, 1, 0));
	say("[%s]", events(one.revents));
	MUST(fcntl(b, F_SETFL, O_NONBLOCK));
	SAY(recv(b, buf, 10, 0));
	copy = MUST(dup(b));
	close(b);
	MUST(send_to(a, "copy", 4, two));
	SAY(readable(copy, 3000));
	SAY(recv(copy, buf, 10, 0));
	close(a), close(copy), close(set);
}

static void six(void)
{
	int a = fresh(AF_INET6), b = fresh(AF_INET6);
	struct sockaddr_in6 name = ipv6(HERE6, 0), from = { 0 };
	char text[64];

	TITLE("IPv6");
	SAY(bind(a, (struct sockaddr *)&name, sizeof name));
	SAY(bind(b, (struct sockaddr *)&name, sizeof name));
	name.sin6_port = htons(port_of(b));
	SAY(sendto(a, "six", 3, 0, (struct sockaddr *)&name, sizeof name));
	SAY(readable(b, 3000));
	SAY(recvfrom(b, buf, 10, 0, (struct sockaddr *)&from, &(socklen_t){ sizeof from }));
	say("%s, the first %d", inet_ntop(AF_INET6, &from.sin6_addr, text, sizeof text), ntohs(from.sin6_port) == port_of(a));
	SAY(sendto(b, "back", 4, 0, (struct sockaddr *)&from, sizeof from));
	SAY(readable(a, 3000));
	SAY(recv(a, buf, 10, 0));
	close(a), close(b);
}

/* A server on the IPv6 wildcard answers IPv4 clients, from a socket that it connects to each, as iperf3 does. */
static void both_families(void)
{
	int server = fresh(AF_INET6), client = fresh(AF_INET), on = 1, off = 0, next;
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 }, from = { 0 };
	struct sockaddr_in own = { 0 };
	char text[64];

	TITLE("an IPv4 client of an IPv6 server");
	MUST(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
	MUST(setsockopt(server, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off));
	SAY(bind(server, (struct sockaddr *)&any, sizeof any));
	any.sin6_port = htons(port_of(server));
	SAY(connect_to(client, HERE, port_of(server)));
	for (int i = 0; i < 3; i++) {
		SAY(send(client, "question", 8, 0));
		SAY(readable(server, 3000));
		SAY(recvfrom(server, buf, sizeof buf, 0, (struct sockaddr *)&from, &(socklen_t){ sizeof from }));
		say("%.8s from %s, the client %d", buf, inet_ntop(AF_INET6, &from.sin6_addr, text, sizeof text),
		    ntohs(from.sin6_port) == port_of(client));
		SAY(sendto(server, "answer", 6, 0, (struct sockaddr *)&from, sizeof from));
		SAY(readable(client, 3000));
		SAY(recvfrom(client, buf, sizeof buf, 0, (struct sockaddr *)&own, &(socklen_t){ sizeof own }));
		say("%.6s from %s, the server %d", buf, inet_ntoa(own.sin_addr), ntohs(own.sin_port) == port_of(server));
	}
	SAY(connect(server, (struct sockaddr *)&from, sizeof from));
	next = fresh(AF_INET6);
	MUST(setsockopt(next, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
	SAY(bind(next, (struct sockaddr *)&any, sizeof any));
	for (int i = 0; i < 3; i++) {
		SAY(write(server, "connected", 9));
		SAY(readable(client, 3000));
		SAY(recv(client, buf, sizeof buf, 0));
		SAY(send(client, "question", 8, 0));
		SAY(readable(server, 3000));
		SAY(recv(server, buf, sizeof buf, 0));
	}
	SAY(recv(next, buf, 1, MSG_DONTWAIT));
	close(server), close(client), close(next);
}

int main(void)
{
	exchange();
	pieces();
	connected();
	unbound();
	batches();
	waiting();
	six();
	both_families();
	return 0;
}
