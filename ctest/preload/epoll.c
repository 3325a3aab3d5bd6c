// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* epoll on connections, listeners and ordinary descriptors: level, edge, one-shot, changes, copies, nesting. */
#include "common.h"

static int set;

static int ctl(int op, int fd, unsigned bits, int data)
{
	struct epoll_event event = { .events = bits, .data.u32 = data };

	return epoll_ctl(set, op, fd, &event);
}

static int by_data(const void *a, const void *b)
{
	return (int)((const struct epoll_event *)a)->data.u32 - (int)((const struct epoll_event *)b)->data.u32;
}

/* Events are told in the order of their data: the kernel's own order is nobody's business. */
static void say_events(const char *what, int timeout, int max)
{
	struct epoll_event got[8] = { 0 };
	int n;

	errno = 0;
	n = epoll_wait(set, got, max, timeout);
	printf("%s: %d %s", what, n, n < 0 ? errno_name(errno) : "");
	if (n > 0)
		qsort(got, n, sizeof got[0], by_data);
	for (int i = 0; i < n; i++)
		printf(" %u[%s]", got[i].data.u32, events(got[i].events));
	printf("\n");
	fflush(stdout);
}

static void settle(int fd)
{
	if (!readable(fd, 5000))
		say("nothing came");
}

static void level(void)
{
	struct later later;
	double start;
	int fds[2], pipes[2];
	char buf[8];

	TITLE("level");
	pair(fds);
	MUST(pipe(pipes));
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	SAY(ctl(EPOLL_CTL_ADD, pipes[0], EPOLLIN, 2));
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	SAY(ctl(EPOLL_CTL_MOD, pipes[1], EPOLLIN, 1));
	SAY(ctl(EPOLL_CTL_DEL, pipes[1], 0, 0));
	SAY(ctl(EPOLL_CTL_ADD, set, EPOLLIN, 1));
	SAY(ctl(EPOLL_CTL_ADD, 999, EPOLLIN, 1));
	SAY(ctl(77, fds[0], EPOLLIN, 1));
	SAY(epoll_ctl(fds[0], EPOLL_CTL_ADD, pipes[0], &(struct epoll_event){ 0 }));
	SAY(epoll_wait(fds[0], &(struct epoll_event){ 0 }, 1, 0));
	SAY(epoll_wait(set, &(struct epoll_event){ 0 }, 0, 0));
	start = now();
	say_events("nothing", 300, 8);
	say("%s", in_time(start, 0.3));
	MUST(send(fds[1], "ab", 2, 0));
	say_events("data", 5000, 8);
	say_events("still", 0, 8);
	MUST(write(pipes[1], "x", 1));
	say_events("both", 0, 8);
	say_events("one at a time", 0, 1);
	MUST(recv(fds[0], buf, 1, 0));
	MUST(read(pipes[0], buf, 1));
	say_events("half read", 0, 8);
	MUST(recv(fds[0], buf, 1, 0));
	say_events("read", 0, 8);
	SAY(ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLOUT, 3));
	say_events("OUT too", 1000, 8);
	SAY(ctl(EPOLL_CTL_MOD, fds[0], 0, 3));
	say_events("no interest", 50, 8);
	SAY(ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLRDHUP, 4));
	do_later(&later, 200, fds[1], 's');
	start = now();
	say_events("wakes", 5000, 8);
	say("%s", in_time(start, 0.2));
	was_done(&later);
	MUST(recv(fds[0], buf, 5, 0));
	MUST(shutdown(fds[1], SHUT_WR));
	say_events("RDHUP", 5000, 8);
	SAY(ctl(EPOLL_CTL_DEL, fds[0], 0, 0));
	say_events("removed", 50, 8);
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 5));
	say_events("and back", 1000, 8);
	MUST(shutdown(fds[0], SHUT_WR));
	SAY(ctl(EPOLL_CTL_MOD, fds[0], 0, 6));
	say_events("HUP is always told", 5000, 8);
	close(fds[0]);
	say_events("closed sockets leave", 50, 8);
	close(fds[1]), close(pipes[0]), close(pipes[1]);
}

static void edge(void)
{
	int fds[2];
	char buf[64];

	TITLE("edge");
	pair(fds);
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLET, 1));
	MUST(send(fds[1], "ab", 2, 0));
	say_events("data", 5000, 8);
	say_events("no second time", 100, 8);
	MUST(send(fds[1], "cd", 2, 0));
	say_events("more data", 5000, 8);
	say_events("no second time", 100, 8);
	SAY(ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLET, 2));
	say_events("changed: again", 1000, 8);
	MUST(read_all(fds[0], buf, 4));
	SAY(recv(fds[0], buf, 1, MSG_DONTWAIT));
	MUST(send(fds[1], "e", 1, 0));
	say_events("after EAGAIN", 5000, 8);
	SAY(ctl(EPOLL_CTL_MOD, fds[0], EPOLLOUT | EPOLLIN | EPOLLET, 3));
	say_events("both ways", 1000, 8);
	say_events("no second time", 100, 8);
	MUST(shutdown(fds[1], SHUT_WR));
	say_events("the end", 5000, 8);
	close(fds[1]), close(fds[0]);

	TITLE("one-shot");
	pair(fds);
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLONESHOT, 1));
	MUST(send(fds[1], "ab", 2, 0));
	say_events("data", 5000, 8);
	say_events("shot", 100, 8);
	MUST(send(fds[1], "c", 1, 0));
	say_events("still shot", 100, 8);
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	SAY(ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLONESHOT, 2));
	say_events("armed", 1000, 8);
	say_events("shot", 100, 8);
	close(fds[1]), close(fds[0]);
}

static void blocked_writer(void)
{
	static char block[65536];
	int fds[2];
	long sent = 0, n;

	TITLE("a writer that must wait");
	pair(fds);
	MUST(fcntl(fds[0], F_SETFL, O_NONBLOCK));
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLOUT | EPOLLET, 1));
	say_events("writable", 1000, 8);
	while ((n = send(fds[0], block, sizeof block, 0)) > 0)
		sent += n;
	say("full: %s", errno_name(errno));
	say_events("not writable", 100, 8);
	for (long left = sent; left > 0; left -= n)
		n = MUST(recv(fds[1], block, sizeof block, 0));
	say_events("writable again", 5000, 8);
	close(fds[1]), close(fds[0]);
}

static void undecided(void)
{
	int server = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)), client, peer, error = -1;
	struct dialer dialer;

	TITLE("registered before listen and connect");
	SAY(ctl(EPOLL_CTL_ADD, server, EPOLLIN, 1));
	say_events("a fresh socket hangs up", 0, 8);
	MUST(bind_to(server, HERE, 0));
	MUST(listen(server, 4));
	say_events("a listener", 50, 8);
	dial(&dialer, port_of(server));
	say_events("a client", 5000, 8);
	peer = SAY_FD(accept4(server, NULL, NULL, SOCK_NONBLOCK));
	client = dialed(&dialer);
	say_events("accepted", 50, 8);
	SAY(accept(server, NULL, NULL));
	ping(client, peer);
	close(client), close(peer);

	client = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	SAY(ctl(EPOLL_CTL_ADD, client, EPOLLOUT | EPOLLET, 2));
	say_events("a fresh socket", 0, 8);
	SAY(connect_to(client, HERE, port_of(server)));
	settle(server);
	SAY(ctl(EPOLL_CTL_MOD, server, 0, 1));
	peer = SAY_FD(accept(server, NULL, NULL));
	say_events("connected", 5000, 8);
	getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
	say("SO_ERROR %d", error);
	ping(client, peer);
	SAY(ctl(EPOLL_CTL_MOD, client, EPOLLIN, 3));
	MUST(send(peer, "x", 1, 0));
	say_events("data", 5000, 8);
	close(server), close(client), close(peer);
}

static void refused(void)
{
	int server = listener(1), port = port_of(server), client = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)), error = 0;

	TITLE("refused");
	close(server);
	SAY(connect_to(client, HERE, port));
	SAY(ctl(EPOLL_CTL_ADD, client, EPOLLOUT, 1));
	say_events("told", 5000, 8);
	getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
	say("SO_ERROR %s", errno_name(error));
	close(client);
}

static void copies(void)
{
	int fds[2], copy, outer, nested = set;
	struct epoll_event got;
	struct pollfd one;

	TITLE("copies and nesting");
	pair(fds);
	copy = SAY_FD(dup(fds[0]));
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	SAY(ctl(EPOLL_CTL_ADD, copy, EPOLLIN, 2));
	MUST(send(fds[1], "x", 1, 0));
	settle(fds[0]);
	say_events("both numbers", 1000, 8);
	SAY(ctl(EPOLL_CTL_DEL, copy, 0, 0));
	say_events("one number", 1000, 8);
	close(copy);
	say_events("its copy is closed", 1000, 8);

	one = (struct pollfd){ set, POLLIN, 0 };
	SAY(poll(&one, 1, 1000));
	outer = MUST(epoll_create1(EPOLL_CLOEXEC));
	SAY(epoll_ctl(outer, EPOLL_CTL_ADD, set, &(struct epoll_event){ .events = EPOLLIN, .data.u32 = 9 }));
	SAY(epoll_wait(outer, &got, 1, 1000));
	say("data %u", got.data.u32);
	MUST(recv(fds[0], &copy, 1, 0));
	/* Whoever looks into the set itself settles what the outer one says: until then it may say ready once more than
	 * natively (docs/preload.md). */
	say_events("read", 0, 8);
	SAY(epoll_wait(outer, &got, 1, 50));
	SAY(poll(&one, 1, 0));
	/* A copy of the set is the set. */
	set = SAY_FD(dup(nested));
	MUST(send(fds[1], "y", 1, 0));
	say_events("through a copy of the set", 5000, 8);
	SAY(ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN, 7));
	close(set);
	set = nested;
	say_events("changed through the copy", 1000, 8);
	close(outer), close(fds[0]), close(fds[1]);
	say_events("empty", 20, 8);
}

static void reuse(void)
{
	int fds[2], low[2], more[2], first;

	TITLE("a number used again");
	pair(fds);
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	MUST(send(fds[1], "x", 1, 0));
	settle(fds[0]);
	first = fds[0];
	close(fds[0]);
	close(fds[1]);
	MUST(pipe(low));
	more[0] = MUST(fcntl(low[0], F_DUPFD, 100));
	more[1] = MUST(fcntl(low[1], F_DUPFD, 100));
	close(low[0]), close(low[1]);
	MUST(dup2(more[0], first));
	MUST(write(more[1], "x", 1));
	say_events("nobody registered the pipe", 50, 8);
	SAY(ctl(EPOLL_CTL_ADD, first, EPOLLIN, 2));
	say_events("now", 1000, 8);
	close(more[0]), close(more[1]), close(first);
	for (int i = 0; i < 3; i++) {
		pair(fds);
		MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, i));
		MUST(send(fds[1], "x", 1, 0));
		say_events("a new connection", 5000, 8);
		close(fds[0]), close(fds[1]);
	}
	/* The set goes first. */
	pair(fds);
	MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	SAY(close(set));
	ping(fds[0], fds[1]);
	set = MUST(epoll_create(10));
	SAY(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 2));
	MUST(send(fds[1], "x", 1, 0));
	say_events("in a new set", 5000, 8);
	close(fds[0]), close(fds[1]);
}

int main(void)
{
	set = MUST(epoll_create1(0));
	level();
	edge();
	blocked_writer();
	undecided();
	refused();
	copies();
	reuse();
	return 0;
}
