// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a child may do with a connection that it inherited: wait for it in every way, end a side, move much, copy it,
 * hand it to a child of its own.
 * rdma: 12
 * limit: 60
 */
#include "common.h"

/* Runs WORK in a child that has the accepted end; this process has the other. */
static void with_child(const char *title, void (*work)(int fd), void (*mine)(int fd))
{
	int server = listener(2), fds[2];
	pid_t pid;

	TITLE(title);
	pair_of(server, fds);
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		alarm(20);
		close(server);
		close(fds[1]);
		work(fds[0]);
		_exit(0);
	}
	close(fds[0]);
	mine(fds[1]);
	say("child %d", exit_of(pid));
	close(fds[1]), close(server);
}

static void say_line(int fd, const char *what, long got)
{
	char text[100];

	snprintf(text, sizeof text, "%s: %ld %s\n", what, got, got < 0 ? errno_name(errno) : "");
	write_all(fd, text, strlen(text));
}

/* Waits for a question in each way; the parent asks slowly. */
static void wait_in_child(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 3 };
	struct pollfd one = { fd, POLLIN, 0 };
	int set = epoll_create1(0);
	char room[10];
	fd_set in;

	say_line(fd, "poll, nothing", poll(&one, 1, 50));
	say_line(fd, "poll", poll(&one, 1, 5000));
	say_line(fd, "IN", one.revents);
	say_line(fd, "recv", recv(fd, room, 5, 0));
	FD_ZERO(&in);
	FD_SET(fd, &in);
	say_line(fd, "select", select(fd + 1, &in, NULL, NULL, &(struct timeval){ 5, 0 }));
	say_line(fd, "read", read(fd, room, 5));
	say_line(fd, "add", epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	say_line(fd, "epoll", epoll_wait(set, &event, 1, 5000));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	say_line(fd, "recv", recv(fd, room, 10, 0));
	say_line(fd, "no more", recv(fd, room, 10, 0));
}

static void ask_slowly(int fd)
{
	for (int i = 0; i < 3; i++) {
		nap(700);
		MUST(send(fd, "slow!", 5, 0));
	}
	until_end(fd);
}

/* Ends its side first, then reads to the end. */
static void half_in_child(int fd)
{
	char room[100];

	write_all(fd, "from the child", 14);
	shutdown(fd, SHUT_WR);
	if (read_all(fd, room, sizeof room) != 15 || memcmp(room, "from the parent", 15))
		_exit(1);
}

static void half_in_parent(int fd)
{
	until_end(fd);
	SAY(write_all(fd, "from the parent", 15));
	SAY(shutdown(fd, SHUT_WR));
	SAY(recv(fd, &(char){ 0 }, 1, 0));
}

enum { MUCH = 2000000 };

static void echo_in_child(int fd)
{
	static char room[50000];
	long n;

	while ((n = recv(fd, room, sizeof room, 0)) > 0)
		if (write_all(fd, room, n) != n)
			_exit(2);
}

static void *send_much(void *arg)
{
	static char room[MUCH];

	for (long i = 0; i < MUCH; i++)
		room[i] = pattern(i);
	write_all((int)(long)arg, room, MUCH);
	shutdown((int)(long)arg, SHUT_WR);
	return NULL;
}

static void move_much(int fd)
{
	static char room[MUCH + 1];
	pthread_t thread;
	long n, wrong = 0;

	pthread_create(&thread, NULL, send_much, (void *)(long)fd);
	n = read_all(fd, room, sizeof room);
	pthread_join(thread, NULL);
	for (long i = 0; i < n; i++)
		wrong += room[i] != pattern(i);
	say("%ld back, %ld wrong", n, wrong);
}

/* As inetd's children that do not exec: standard input and output are the connection. */
static void as_standard(int fd)
{
	char room[10];

	dup2(fd, 0);
	dup2(fd, 1);
	close(fd);
	if (read(0, room, 5) == 5)
		write(1, room, 5);
	close(0);
	write(1, " twice ", 7);
	write(1, room, 5);
}

static void ask_once(int fd)
{
	MUST(send(fd, "hello", 5, 0));
	until_end(fd);
}

static void by_grandchild(int fd)
{
	pid_t pid = fork();

	if (pid == 0) {
		echo_in_child(fd);
		_exit(0);
	}
	close(fd);
	_exit(exit_of(pid));
}

static void ask_and_end(int fd)
{
	MUST(send(fd, "grand", 5, 0));
	MUST(shutdown(fd, SHUT_WR));
	until_end(fd);
}

/* The child is killed: its end of the connection ends. */
static void wait_for_ever(int fd)
{
	write_all(fd, "here", 4);
	raise(SIGKILL);
}

static void names_in_child(int fd)
{
	struct sockaddr_in own, peer;
	int type = 0, error = -1;

	say_line(fd, "own", getsockname(fd, (struct sockaddr *)&own, &(socklen_t){ sizeof own }));
	say_line(fd, "peer", getpeername(fd, (struct sockaddr *)&peer, &(socklen_t){ sizeof peer }));
	say_line(fd, "addresses", own.sin_addr.s_addr == peer.sin_addr.s_addr && own.sin_port != peer.sin_port);
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){ sizeof type });
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
	say_line(fd, "type", type);
	say_line(fd, "error", error);
	say_line(fd, "no delay", setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &type, sizeof type));
}

/* A child that asks for options and sets them takes no bytes of its parent's. */
static void looks_in_child(void)
{
	int server = listener(2), fds[2], value;
	char room[4] = "";
	pid_t pid;

	TITLE("a child that looks");
	pair_of(server, fds);
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		for (int i = 0; i < 2; i++) {
			static const int names[] = { SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ERROR, SO_RCVBUF, SO_KEEPALIVE };

			for (int j = 0; j < 6; j++)
				MUST(getsockopt(fds[i], SOL_SOCKET, names[j], &value, &(socklen_t){ sizeof value }));
			MUST(setsockopt(fds[i], SOL_SOCKET, SO_KEEPALIVE, &(int){ 1 }, sizeof(int)));
			MUST(getsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &value, &(socklen_t){ sizeof value }));
			MUST(setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)));
			MUST(port_of(fds[i]));
			MUST(fcntl(fds[i], F_GETFL));
		}
		nap(400);
		_exit(0);
	}
	nap(200);
	for (int i = 0; i < 3; i++) {
		MUST(send(fds[1], "abc", 3, 0));
		nap(50);
		say("readable %d", readable(fds[0], 1000));
		SAY(recv(fds[0], room, 3, MSG_DONTWAIT));
		say("%s", room);
	}
	say("child %d", exit_of(pid));
	ping(fds[0], fds[1]);
	close(fds[0]), close(fds[1]), close(server);
}

/* Time limits are the socket's, so the child's, too. */
static void time_limits(void)
{
	struct timeval limit = { 0, 200000 };
	int server = listener(2), fds[2];
	pid_t pid;

	TITLE("time limits");
	pair_of(server, fds);
	MUST(setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		double start = now();

		alarm(5);
		SAY(recv(fds[0], &(char){ 0 }, 1, 0));
		say("%s", in_time(start, 0.2));
		limit.tv_usec = 400000;
		MUST(setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
		start = now();
		SAY(recv(fds[0], &(char){ 0 }, 1, 0));
		say("%s", in_time(start, 0.4));
		_exit(0);
	}
	say("child %d", exit_of(pid));
	close(fds[0]), close(fds[1]), close(server);
}

int main(void)
{
	with_child("names", names_in_child, until_end);
	with_child("waiting", wait_in_child, ask_slowly);
	with_child("half closes", half_in_child, half_in_parent);
	with_child("much", echo_in_child, move_much);
	with_child("standard input and output", as_standard, ask_once);
	with_child("a child of the child", by_grandchild, ask_and_end);
	with_child("killed", wait_for_ever, until_end);
	looks_in_child();
	time_limits();
	return 0;
}
