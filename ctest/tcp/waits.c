// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* poll and select: arguments, times, and what wakes a sleeper. */
#include "sockets.h"

#include <sys/resource.h>

SCENARIO(poll_arguments, .pairs = 2)
{
	struct pollfd fds[5], *many;
	struct rlimit limit;
	int sockets[2], pipes[2];
	double start = now();

	pair(sockets);
	MUST(pipe(pipes));
	CHECK("none", call.poll(NULL, 0, 0));
	start = now();
	CHECK("none.timeout", call.poll(NULL, 0, 100));
	check_time("none.time", start, 0.1);
	CHECK("null", call.poll(NULL, 1, 0));
	getrlimit(RLIMIT_NOFILE, &limit);
	many = malloc((limit.rlim_cur + 1) * sizeof *many);
	for (unsigned i = 0; i <= limit.rlim_cur; i++)
		many[i] = (struct pollfd){ -1, POLLIN, 0 };
	CHECK("too_many", call.poll(many, limit.rlim_cur + 1, 0));
	CHECK("many", call.poll(many, limit.rlim_cur, 0));
	free(many);
	fds[0] = (struct pollfd){ -1, POLLIN, 77 };
	fds[1] = (struct pollfd){ sockets[0], POLLIN | POLLOUT, 77 };
	fds[2] = (struct pollfd){ sockets[0], POLLOUT, 77 };
	fds[3] = (struct pollfd){ pipes[1], POLLOUT, 77 };
	fds[4] = (struct pollfd){ 777, POLLIN, 77 };
	CHECK("mixed", call.poll(fds, 5, 1000));
	for (int i = 0; i < 5; i++)
		check(named("mixed.%d", i), "%s", event_names(fds[i].revents));
	fds[0] = (struct pollfd){ sockets[0], 0, 77 };
	CHECK("no_events", call.poll(fds, 1, 0));
	check("no_events.0", "%s", event_names(fds[0].revents));
	fds[0] = (struct pollfd){ -sockets[0] - 1, POLLOUT, 77 };
	CHECK("negative", call.poll(fds, 1, 0));
	check("negative.0", "%s", event_names(fds[0].revents));
	fds[0] = (struct pollfd){ sockets[0], POLLIN, 77 };
	start = now();
	CHECK("timeout", call.poll(fds, 1, 150));
	check_time("timeout.time", start, 0.15);
	check("timeout.0", "%s", event_names(fds[0].revents));
	start = now();
	CHECK("at_once", call.poll(fds, 1, 0));
	check_time("at_once.time", start, 0);
	deliver(sockets[1], sockets[0], "x");
	fds[0] = (struct pollfd){ sockets[0], POLLRDNORM | POLLRDBAND, 77 };
	CHECK("normal", call.poll(fds, 1, 0));
	check("normal.0", "%s", event_names(fds[0].revents));
	fds[0] = (struct pollfd){ sockets[0], POLLWRNORM | POLLWRBAND | POLLMSG, 77 };
	CHECK("write_normal", call.poll(fds, 1, 0));
	check("write_normal.0", "%s", event_names(fds[0].revents));
	fds[0] = (struct pollfd){ sockets[0], 0x7fff, 77 };
	CHECK("all", call.poll(fds, 1, 0));
	check("all.0", "%s", event_names(fds[0].revents));
}

/* Each change that a waiter may be asleep for. */
static void check_wakes(const char *name, int fd, int events)
{
	struct pollfd one = { fd, events, 0 };

	CHECK(name, call.poll(&one, 1, 3000));
	check(named("%s.events", name), "%s", event_names(one.revents));
}

static void later_connect(int server, int unused)
{
	int fd = call.socket(AF_INET, SOCK_STREAM, 0);

	(void)unused;
	connect_to(fd, HERE, port_of(server));
}

SCENARIO(poll_wakes, .pairs = 2)
{
	struct later later;
	int fds[2], server = listener(4), fd;

	do_later(&later, later_connect, server, 0);
	check_wakes("client", server, POLLIN);
	was_done(&later);
	pair(fds);
	do_later(&later, later_send, fds[1], 3);
	check_wakes("data", fds[0], POLLIN);
	was_done(&later);
	drain(fds[0]);
	do_later(&later, later_shutdown, fds[1], SHUT_WR);
	check_wakes("end", fds[0], POLLRDHUP);
	was_done(&later);
	pair(fds);
	do_later(&later, later_close, fds[1], 0);
	check_wakes("close", fds[0], POLLIN);
	was_done(&later);
	pair(fds);
	do_later(&later, later_reset, fds[1], 0);
	check_wakes("reset", fds[0], 0);
	was_done(&later);
	pair(fds);
	fill(fds[0]);
	do_later(&later, later_drain, fds[1], 1 << 20);
	check_wakes("room", fds[0], POLLOUT);
	later_shutdown(fds[0], SHUT_WR);
	was_done(&later);
	pair(fds);
	do_later(&later, later_shutdown, fds[0], SHUT_RD);
	check_wakes("own_end", fds[0], POLLIN);
	was_done(&later);
	fd = stream();
	set_blocking(fd, 0);
	connect_to(fd, HERE, NO_PORT);
	check_wakes("refused", fd, POLLOUT);
}

static void handled(int number)
{
	(void)number;
}

static long poll_forever(int fd)
{
	struct pollfd one = { fd, POLLIN, 0 };

	return call.poll(&one, 1, -1);
}

static long select_forever(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return call.select(fd + 1, &set, NULL, NULL, NULL);
}

static long epoll_forever(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = MUST(call.epoll_create1(0));

	MUST(call.epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	return call.epoll_wait(set, &event, 1, -1);
}

static long recv_forever(int fd)
{
	char byte;

	return call.recv(fd, &byte, 1, 0);
}

static long recv_all(int fd)
{
	char room[4];

	return call.recv(fd, room, 4, MSG_WAITALL);
}

static long accept_forever(int fd)
{
	return call.accept(fd, NULL, NULL);
}

static long send_forever(int fd)
{
	long n;

	/* A kernel may have room for some more. */
	do
		n = call.send(fd, "x", 1, 0);
	while (n > 0);
	return n;
}

/* What a signal does to calls that sleep: with SA_RESTART, without, and with a time limit. */
SCENARIO(interrupted, .pairs = 2)
{
	static const struct {
		const char *name;
		long (*run)(int);
		int kind; /* 0 connected, 1 listener, 2 full */
	} calls[] = { { "poll", poll_forever, 0 },     { "select", select_forever, 0 }, { "epoll", epoll_forever, 0 },
		      { "recv", recv_forever, 0 },     { "accept", accept_forever, 1 }, { "send", send_forever, 2 },
		      { "recv_waitall", recv_all, 0 } };
	static struct blocked blocked[7][3];

	watch_no_calls();
	for (int i = 0; i < 7; i++) {
		for (int way = 0; way < 3; way++) {
			struct sigaction action = { .sa_handler = handled, .sa_flags = way == 0 ? 0 : SA_RESTART };
			static const char *const ways[] = { "plain", "restart", "restart_limit" };
			int fds[2], fd;

			sigaction(SIGUSR1, &action, NULL);
			if (calls[i].kind == 1) {
				fd = listener(4);
			} else {
				pair(fds);
				fd = fds[0];
			}
			if (calls[i].kind == 2)
				fill(fd);
			if (way == 2) {
				set_timeout(fd, SO_RCVTIMEO, 5000);
				set_timeout(fd, SO_SNDTIMEO, 5000);
			}
			block(&blocked[i][way], calls[i].run, fd);
			check_interrupted(named("%s.%s", calls[i].name, ways[way]), &blocked[i][way], SIGUSR1);
		}
	}
	/* What had come by then counts. */
	{
		static struct blocked part;
		struct sigaction action = { .sa_handler = handled };
		int fds[2];

		sigaction(SIGUSR1, &action, NULL);
		pair(fds);
		deliver(fds[1], fds[0], "he");
		block(&part, recv_all, fds[0]);
		check_interrupted("recv_waitall.part", &part, SIGUSR1);
	}
}

/* SO_RCVTIMEO and SO_SNDTIMEO of blocking calls. */
SCENARIO(time_limits, .pairs = 2)
{
	struct timeval wrong = { 1, 1000000 }, negative = { -1, 0 }, small = { 0, -1 }, odd = { 0, 1500 };
	socklen_t size = sizeof odd;
	int fds[2];
	double start;

	pair(fds);
	CHECK("wrong", call.setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &wrong, sizeof wrong));
	CHECK("negative", call.setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &negative, sizeof negative));
	CHECK("small", call.setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &small, sizeof small));
	CHECK("short", call.setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &odd, 8));
	CHECK("odd", call.setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &odd, sizeof odd));
	CHECK("get", call.getsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &odd, &size));
	check("get.value", "%ld s, size %u", (long)odd.tv_sec, size);
	set_timeout(fds[0], SO_RCVTIMEO, 150);
	size = sizeof odd;
	MUST(call.getsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &odd, &size));
	check("get.exact", "%ld ms", (long)odd.tv_usec / 1000);
	start = now();
	check_receive("recv", fds[0], 1, 0);
	check_time("recv.time", start, 0.15);
	start = now();
	check_receive("peek", fds[0], 1, MSG_PEEK);
	check_time("peek.time", start, 0.15);
	start = now();
	check_receive("dontwait", fds[0], 1, MSG_DONTWAIT);
	check_time("dontwait.time", start, 0);
	check_state("then", fds[0]);
	set_timeout(fds[0], SO_SNDTIMEO, 150);
	fill(fds[0]);
	start = now();
	CHECK("send", call.send(fds[0], "x", 1, 0));
	check_time("send.time", start, 0.15);
	set_timeout(fds[1], SO_RCVTIMEO, 0);
	drain(fds[1]);
}

static int select_one(int fd, int in, int out, int except, struct timeval *limit, const char **sets)
{
	fd_set read, write, other;
	int count;

	FD_ZERO(&read);
	FD_ZERO(&write);
	FD_ZERO(&other);
	FD_SET(fd, &read);
	FD_SET(fd, &write);
	FD_SET(fd, &other);
	count = call.select(fd + 1, in ? &read : NULL, out ? &write : NULL, except ? &other : NULL, limit);
	*sets = named("%s%s%s", in && FD_ISSET(fd, &read) ? "r" : "", out && FD_ISSET(fd, &write) ? "w" : "",
		      except && FD_ISSET(fd, &other) ? "e" : "");
	return count;
}

static void check_select(const char *name, int fd, int in, int out, int except)
{
	struct timeval none = { 0, 0 };
	const char *sets;

	CHECK(name, select_one(fd, in, out, except, &none, &sets));
	check(named("%s.sets", name), "%s", *sets ? sets : "-");
}

SCENARIO(select_arguments, .pairs = 2)
{
	struct timeval limit = { 0, 0 };
	const char *sets;
	struct later later;
	fd_set set;
	int fds[2], pipes[2];
	double start;

	pair(fds);
	FD_ZERO(&set);
	CHECK("none", call.select(0, NULL, NULL, NULL, &limit));
	CHECK("negative", call.select(-1, NULL, NULL, NULL, &limit));
	CHECK("null_sets", call.select(fds[0] + 1, NULL, NULL, NULL, &limit));
	CHECK("empty_set", call.select(fds[0] + 1, &set, NULL, NULL, &limit));
	FD_SET(fds[0], &set);
	CHECK("outside", call.select(fds[0], NULL, &set, NULL, &limit));
	check("outside.kept", "%d", !!FD_ISSET(fds[0], &set));
	FD_ZERO(&set);
	FD_SET(777, &set);
	FD_SET(fds[0], &set);
	CHECK("not_open", call.select(778, NULL, &set, NULL, &limit));
	check("not_open.kept", "%d %d", !!FD_ISSET(fds[0], &set), !!FD_ISSET(777, &set));
	MUST(pipe(pipes));
	FD_ZERO(&set);
	FD_SET(pipes[1], &set);
	close(pipes[1]);
	CHECK("closed", call.select(pipes[1] + 1, NULL, &set, NULL, &limit));
	check("closed.kept", "%d", !!FD_ISSET(pipes[1], &set));
	limit = (struct timeval){ -1, 0 };
	CHECK("negative_time", call.select(0, NULL, NULL, NULL, &limit));
	limit = (struct timeval){ 0, -1 };
	CHECK("negative_micro", call.select(0, NULL, NULL, NULL, &limit));
	limit = (struct timeval){ 0, 1000000 };
	CHECK("long_micro", select_one(fds[0], 1, 1, 0, &limit, &sets));
	check("long_micro.left", "%ld", (long)limit.tv_sec);
	check_select("idle", fds[0], 1, 1, 1);
	check_select("idle.read", fds[0], 1, 0, 0);
	check_select("idle.except", fds[0], 0, 0, 1);
	/* What is left of the time. */
	limit = (struct timeval){ 0, 200000 };
	start = now();
	CHECK("timeout", select_one(fds[0], 1, 0, 0, &limit, &sets));
	check_time("timeout.time", start, 0.2);
	check("timeout.left", "%ld %ld", (long)limit.tv_sec, (long)limit.tv_usec);
	check("timeout.sets", "%s", *sets ? sets : "-");
	do_later(&later, later_send, fds[1], 3);
	limit = (struct timeval){ 5, 0 };
	CHECK("data", select_one(fds[0], 1, 0, 1, &limit, &sets));
	check("data.sets", "%s", *sets ? sets : "-");
	check("data.left", "%s", limit.tv_sec == 4 ? "less" : "as before");
	was_done(&later);
	limit = (struct timeval){ 5, 0 };
	CHECK("at_once", select_one(fds[0], 1, 0, 0, &limit, &sets));
	check("at_once.left", "%s", limit.tv_sec == 4 || limit.tv_sec == 5 ? "about all" : "another");
	check_select("data.all", fds[0], 1, 1, 1);
}

static void select_end(const char *name, void (*end)(int, int), int arg)
{
	int fds[2];

	pair(fds);
	end(fds[1], arg);
	settle(fds[0], POLLIN);
	check_select(name, fds[0], 1, 1, 1);
}

SCENARIO(select_states, .pairs = 2)
{
	int fd = stream(), server = listener(2), fds[2];

	check_select("fresh", fd, 1, 1, 1);
	check_select("listening", server, 1, 1, 1);
	connect_to(fd, HERE, port_of(server));
	settle(server, POLLIN);
	check_select("listening.client", server, 1, 1, 1);
	select_end("half_close", later_shutdown, SHUT_WR);
	select_end("close", later_close, 0);
	select_end("reset", later_reset, 0);
	pair(fds);
	fill(fds[0]);
	check_select("full", fds[0], 1, 1, 1);
	call.send(fds[1], "x", 1, MSG_OOB | MSG_NOSIGNAL);
	nap(30);
	check_select("urgent", fds[0], 1, 0, 1);
	fd = stream();
	set_blocking(fd, 0);
	connect_to(fd, SILENT, 80);
	check_select("connecting", fd, 1, 1, 1);
	fd = stream();
	set_blocking(fd, 0);
	connect_to(fd, HERE, NO_PORT);
	settle(fd, POLLERR | POLLHUP);
	check_select("refused", fd, 1, 1, 1);
}
