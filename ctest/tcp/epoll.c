// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* epoll: level, edge, one-shot, exclusive; at each change of a connection. */
#include "sockets.h"

static int set;

static int ctl(int op, int fd, unsigned events, int data)
{
	struct epoll_event event = { .events = events, .data.u32 = data };

	return call.epoll_ctl(set, op, fd, &event);
}

static void new_set(void)
{
	set = MUST(call.epoll_create1(EPOLL_CLOEXEC));
}

static int by_data(const void *a, const void *b)
{
	return (int)((const struct epoll_event *)a)->data.u32 - (int)((const struct epoll_event *)b)->data.u32;
}

static void add_events(char *to, size_t room, struct epoll_event *got, int count)
{
	qsort(got, count, sizeof *got, by_data);
	for (int i = 0; i < count; i++) {
		size_t length = strlen(to);

		snprintf(to + length, room - length, "%s%s", length ? " " : "",
			 got[i].data.u32 ? named("%u:%s", got[i].data.u32, event_names(got[i].events))
					 : event_names(got[i].events));
	}
}

/* All that the set tells of, in one look and one a little later: an edge is in one of them only. */
static void told(const char *name)
{
	const char *wanted = oracle_says(name);
	struct epoll_event got[8];
	char text[200] = "";
	int count;

	nap(20);
	count = call.epoll_wait(set, got, 8, 0);
	if (count == 0 && wanted && strncmp(wanted, "none", 4))
		count = call.epoll_wait(set, got, 8, 1000);
	add_events(text, sizeof text, got, count);
	count = call.epoll_wait(set, got, 8, 30);
	if (count > 0) {
		strcat(text, *text ? ", then " : "then ");
		add_events(text, sizeof text, got, count);
	}
	check(name, "%s", *text ? text : "none");
}

SCENARIO(epoll_arguments, .pairs = 2)
{
	struct epoll_event event = { .events = EPOLLIN }, got[2];
	int fds[2], pipes[2];
	double start;

	pair(fds);
	MUST(pipe(pipes));
	CHECK("create_flags", call.epoll_create1(1));
	new_set();
	CHECK("wait.0", call.epoll_wait(set, got, 0, 0));
	CHECK("wait.negative", call.epoll_wait(set, got, -1, 0));
	CHECK("wait.huge", call.epoll_wait(set, got, 1 << 30, 0));
	CHECK("wait.bad_set", call.epoll_wait(777, got, 1, 0));
	CHECK("wait.minus_1", call.epoll_wait(-1, got, 1, 0));
	CHECK("wait.socket", call.epoll_wait(fds[0], got, 1, 0));
	CHECK("add", ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	CHECK("add.again", ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	CHECK("add.not_open", ctl(EPOLL_CTL_ADD, 777, EPOLLIN, 1));
	CHECK("add.minus_1", ctl(EPOLL_CTL_ADD, -1, EPOLLIN, 1));
	CHECK("add.itself", ctl(EPOLL_CTL_ADD, set, EPOLLIN, 1));
	CHECK("add.null", call.epoll_ctl(set, EPOLL_CTL_ADD, fds[1], NULL));
	CHECK("add.to_socket", call.epoll_ctl(fds[0], EPOLL_CTL_ADD, fds[1], &event));
	CHECK("add.to_pipe", call.epoll_ctl(pipes[0], EPOLL_CTL_ADD, fds[1], &event));
	CHECK("mod.missing", ctl(EPOLL_CTL_MOD, fds[1], EPOLLIN, 1));
	CHECK("mod.null", call.epoll_ctl(set, EPOLL_CTL_MOD, fds[0], NULL));
	CHECK("del.missing", ctl(EPOLL_CTL_DEL, fds[1], 0, 0));
	CHECK("op_77", ctl(77, fds[0], EPOLLIN, 1));
	CHECK("op_0", ctl(0, fds[0], EPOLLIN, 1));
	start = now();
	CHECK("timeout", call.epoll_wait(set, got, 2, 150));
	check_time("timeout.time", start, 0.15);
	CHECK("del.null", call.epoll_ctl(set, EPOLL_CTL_DEL, fds[0], NULL));
	CHECK("del.again", ctl(EPOLL_CTL_DEL, fds[0], 0, 0));
	CHECK("wait.null", call.epoll_wait(set, NULL, 1, 0));
	CHECK("add.pipe", ctl(EPOLL_CTL_ADD, pipes[1], EPOLLOUT, 3));
	CHECK("add.after", ctl(EPOLL_CTL_ADD, fds[0], EPOLLOUT, 4));
	told("both");
	CHECK("wait.one", call.epoll_wait(set, got, 1, 0));
	CHECK("close", call.close(set));
	CHECK("closed.wait", call.epoll_wait(set, got, 1, 0));
}

SCENARIO(epoll_exclusive_arguments, .pairs = 2)
{
	int fds[2], nested;

	pair(fds);
	new_set();
	CHECK("add", ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLEXCLUSIVE, 1));
	CHECK("mod", ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN, 1));
	CHECK("mod.exclusive", ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLEXCLUSIVE, 1));
	CHECK("del", ctl(EPOLL_CTL_DEL, fds[0], 0, 0));
	CHECK("oneshot", ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT, 1));
	ctl(EPOLL_CTL_DEL, fds[0], 0, 0);
	CHECK("rdhup", ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLEXCLUSIVE | EPOLLRDHUP, 1));
	ctl(EPOLL_CTL_DEL, fds[0], 0, 0);
	CHECK("pri", ctl(EPOLL_CTL_ADD, fds[0], EPOLLPRI | EPOLLEXCLUSIVE, 1));
	ctl(EPOLL_CTL_DEL, fds[0], 0, 0);
	CHECK("edge", ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLOUT | EPOLLET | EPOLLEXCLUSIVE, 1));
	told("edge.events");
	MUST(call.send(fds[1], "x", 1, 0));
	told("edge.data");
	CHECK("add.plain", ctl(EPOLL_CTL_ADD, fds[1], EPOLLIN, 2));
	CHECK("mod.to_exclusive", ctl(EPOLL_CTL_MOD, fds[1], EPOLLIN | EPOLLEXCLUSIVE, 2));
	nested = MUST(call.epoll_create1(0));
	CHECK("set", ctl(EPOLL_CTL_ADD, nested, EPOLLIN | EPOLLEXCLUSIVE, 3));
}

SCENARIO(epoll_level, .pairs = 2)
{
	char room[8];
	int fds[2];

	pair(fds);
	new_set();
	MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLRDHUP, 1));
	told("idle");
	MUST(call.send(fds[1], "hello", 5, 0));
	told("data");
	call.recv(fds[0], room, 2, 0);
	told("partly_read");
	call.recv(fds[0], room, 8, 0);
	told("read");
	CHECK("mod", ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLOUT, 2));
	told("writable");
	fill(fds[0]);
	told("full");
	while (drain(fds[1]))
		nap(5);
	told("room");
	CHECK("mod.none", ctl(EPOLL_CTL_MOD, fds[0], 0, 3));
	told("none");
	MUST(call.shutdown(fds[1], SHUT_WR));
	told("none.half_close");
	CHECK("mod.rdhup", ctl(EPOLL_CTL_MOD, fds[0], EPOLLRDHUP, 4));
	told("rdhup");
	CHECK("mod.in", ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN, 5));
	told("in");
	MUST(call.shutdown(fds[0], SHUT_WR));
	told("both_shut");
	CHECK("del", ctl(EPOLL_CTL_DEL, fds[0], 0, 0));
	told("deleted");
}

SCENARIO(epoll_edge, .pairs = 2)
{
	char room[8];
	int fds[2];

	pair(fds);
	new_set();
	MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 0));
	told("added");
	told("again");
	MUST(call.send(fds[1], "he", 2, 0));
	told("data");
	told("data.again");
	MUST(call.send(fds[1], "llo", 3, 0));
	told("more_data");
	call.recv(fds[0], room, 2, 0);
	told("partly_read");
	call.recv(fds[0], room, 8, 0);
	told("read");
	call.recv(fds[0], room, 8, MSG_DONTWAIT);
	told("read_in_vain");
	MUST(call.send(fds[0], "x", 1, 0));
	told("own_data");
	call.recv(fds[1], room, 8, 0);
	told("own_data_read");
	MUST(call.send(fds[1], "he", 2, 0));
	call.recv(fds[0], room, 8, 0);
	told("data_and_read");
	MUST(ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 0));
	told("mod");
	MUST(call.shutdown(fds[1], SHUT_WR));
	told("half_close");
	told("half_close.again");
	call.recv(fds[0], room, 8, 0);
	told("end_read");
	MUST(call.shutdown(fds[0], SHUT_WR));
	told("both_shut");
	told("both_shut.again");
	MUST(call.close(fds[1]));
	told("peer_closed");
}

/* Only room that was missing is an edge. */
SCENARIO(epoll_edge_room, .pairs = 2)
{
	int fds[2];

	pair(fds);
	new_set();
	MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLOUT | EPOLLET, 0));
	told("added");
	fill(fds[0]);
	told("full");
	while (drain(fds[1]))
		nap(5);
	told("room");
	told("room.again");
	MUST(call.send(fds[1], "x", 1, 0));
	told("unasked_data");
}

SCENARIO(epoll_edge_ends, .pairs = 2)
{
	static const struct {
		const char *name;
		void (*action)(int, int);
		int arg, own, data;
	} ends[] = { { "close", later_close, 0, 0, 0 },
		     { "close_after_data", later_close, 0, 0, 1 },
		     { "reset", later_reset, 0, 0, 0 },
		     { "reset_after_data", later_reset, 0, 0, 1 },
		     { "own_read", later_shutdown, SHUT_RD, 1, 0 },
		     { "own_write", later_shutdown, SHUT_WR, 1, 0 },
		     { "own_both", later_shutdown, SHUT_RDWR, 1, 0 } };

	for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		int fds[2];

		pair(fds);
		new_set();
		MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 0));
		told(named("%s.before", ends[i].name));
		if (ends[i].data) {
			MUST(call.send(fds[1], "x", 1, 0));
			told(named("%s.data", ends[i].name));
		}
		ends[i].action(fds[!ends[i].own], ends[i].arg);
		told(ends[i].name);
		told(named("%s.again", ends[i].name));
		if (ends[i].own) {
			call.send(fds[1], "x", 1, MSG_NOSIGNAL);
			told(named("%s.data", ends[i].name));
			later_close(fds[1], 0);
			told(named("%s.peer_closed", ends[i].name));
		}
	}
}

SCENARIO(epoll_edge_connect, .pairs = 2)
{
	int server = listener(4), fd = stream(), peer;
	pthread_t thread;

	new_set();
	set_blocking(fd, 0);
	MUST(ctl(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 1));
	told("fresh");
	thread = begin_accept(server);
	connect_to(fd, HERE, port_of(server));
	told("connected");
	told("connected.again");
	peer = end_accept(thread);
	told("accepted");
	MUST(ctl(EPOLL_CTL_ADD, peer, EPOLLIN | EPOLLOUT | EPOLLET, 3));
	told("peer");
	connect_to(fd, HERE, port_of(server));
	so_error(fd);
	told("asked");
	MUST(call.send(fd, "x", 1, 0));
	told("data");
}

SCENARIO(epoll_edge_connect_later, .pairs = 2)
{
	int server = listener(4), fd = stream();

	new_set();
	set_blocking(fd, 0);
	begin_accept(server);
	connect_to(fd, HERE, port_of(server));
	MUST(ctl(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLET, 1));
	told("connected");
	told("connected.again");
}

SCENARIO(epoll_edge_refused)
{
	int fd = stream();

	new_set();
	set_blocking(fd, 0);
	connect_to(fd, HERE, NO_PORT);
	MUST(ctl(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 1));
	told("refused");
	told("refused.again");
	so_error(fd);
	told("error_taken");
	MUST(ctl(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 1));
	told("mod");
	fd = stream();
	set_blocking(fd, 0);
	connect_to(fd, SILENT, 80);
	MUST(ctl(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 2));
	told("connecting");
	call.close(fd);
	told("closed");
}

/* Each client is an edge of its own. */
SCENARIO(epoll_edge_listener, .pairs = 6, .queued = 1)
{
	int server = listener(8), fds[3];

	new_set();
	MUST(ctl(EPOLL_CTL_ADD, server, EPOLLIN | EPOLLET, 1));
	told("idle");
	for (int i = 0; i < 3; i++) {
		fds[i] = stream();
		MUST(connect_to(fds[i], HERE, port_of(server)));
		told(named("client_%d", i));
	}
	MUST(call.accept(server, NULL, NULL));
	told("accepted");
	MUST(ctl(EPOLL_CTL_MOD, server, EPOLLIN, 2));
	told("level");
	MUST(call.accept(server, NULL, NULL));
	MUST(call.accept(server, NULL, NULL));
	told("empty");
	MUST(call.shutdown(server, SHUT_RDWR));
	told("ended");
}

SCENARIO(epoll_oneshot, .pairs = 2)
{
	char room[8];
	int fds[2];

	pair(fds);
	new_set();
	MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLONESHOT, 1));
	told("idle");
	MUST(call.send(fds[1], "he", 2, 0));
	told("data");
	MUST(call.send(fds[1], "llo", 3, 0));
	told("more_data");
	CHECK("mod", ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLONESHOT, 2));
	told("armed");
	told("armed.again");
	call.recv(fds[0], room, 8, 0);
	CHECK("mod.empty", ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLOUT | EPOLLONESHOT, 3));
	told("writable");
	CHECK("mod.both", ctl(EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLET | EPOLLONESHOT, 4));
	told("edge.idle");
	MUST(call.send(fds[1], "x", 1, 0));
	told("edge.data");
	MUST(call.close(fds[1]));
	told("disabled.close");
	CHECK("mod.close", ctl(EPOLL_CTL_MOD, fds[0], EPOLLONESHOT, 5));
	told("nothing_asked");
	CHECK("add.again", ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 6));
}

/* An abort is told to who asked for nothing. */
SCENARIO(epoll_errors, .pairs = 2)
{
	int fds[2];

	pair(fds);
	new_set();
	MUST(ctl(EPOLL_CTL_ADD, fds[0], 0, 1));
	told("idle");
	later_reset(fds[1], 0);
	told("reset");
	so_error(fds[0]);
	told("error_taken");
	call.close(fds[0]);
	told("closed");
}

/* A descriptor that is closed leaves its set; one with the same number is another. */
SCENARIO(epoll_close, .pairs = 4)
{
	int fds[2], again[2];

	pair(fds);
	new_set();
	MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLOUT, 1));
	told("open");
	call.close(fds[0]);
	told("closed");
	CHECK("del", ctl(EPOLL_CTL_DEL, fds[0], 0, 0));
	pair(again);
	told("another");
	CHECK("add", ctl(EPOLL_CTL_ADD, again[0], EPOLLOUT, 2));
	told("added");
}

/* The set itself is readable when it has something to tell. */
SCENARIO(epoll_watched, .pairs = 2)
{
	int fds[2], inner;

	pair(fds);
	new_set();
	MUST(ctl(EPOLL_CTL_ADD, fds[0], EPOLLIN, 1));
	CHECK("idle", poll_now(set, POLLIN));
	deliver(fds[1], fds[0], "x");
	settle(set, POLLIN);
	CHECK("data", poll_now(set, POLLIN));
	drain(fds[0]);
	CHECK("read", poll_now(set, POLLIN));
	inner = set;
	new_set();
	CHECK("nested", ctl(EPOLL_CTL_ADD, inner, EPOLLIN, 2));
	told("nested.idle");
	deliver(fds[1], fds[0], "x");
	told("nested.data");
	drain(fds[0]);
	told("nested.read");
}

struct sleeper {
	pthread_t thread;
	pid_t task;
	int set, count;
};

static void *sleep_in(void *arg)
{
	struct sleeper *sleeper = arg;
	struct epoll_event got;

	__atomic_store_n(&sleeper->task, gettid(), __ATOMIC_RELEASE);
	sleeper->count = call.epoll_wait(sleeper->set, &got, 1, 1000);
	return NULL;
}

static void check_woken(const char *name, unsigned events, int one_set, void (*happens)(int fd, int arg), int fd,
			int watched)
{
	struct sleeper sleepers[3] = { { 0 } };
	int woken = 0, sets[3];

	for (int i = 0; i < 3; i++) {
		if (i == 0 || !one_set) {
			new_set();
			MUST(ctl(EPOLL_CTL_ADD, watched, events, 1));
		}
		sets[i] = set;
		sleepers[i].set = set;
		MUST(-pthread_create(&sleepers[i].thread, NULL, sleep_in, &sleepers[i]));
	}
	for (int i = 0; i < 3; i++)
		until_asleep(&sleepers[i].task);
	happens(fd, 1);
	for (int i = 0; i < 3; i++) {
		pthread_join(sleepers[i].thread, NULL);
		woken += sleepers[i].count > 0;
	}
	check(name, "%d of 3", woken);
	for (int i = 0; i < 3; i++)
		if (i == 0 || !one_set)
			call.close(sets[i]);
}

static void connect_now(int port, int unused)
{
	(void)unused;
	connect_to(stream(), HERE, port);
}

/* How many of three sleepers are woken by one event. */
SCENARIO(epoll_sleepers, .pairs = 2)
{
	int server, fds[2];

	server = listener(8);
	check_woken("listener.sets", EPOLLIN, 0, connect_now, port_of(server), server);
	server = listener(8);
	check_woken("listener.exclusive_sets", EPOLLIN | EPOLLEXCLUSIVE, 0, connect_now, port_of(server), server);
	server = listener(8);
	check_woken("listener.edge_one_set", EPOLLIN | EPOLLET, 1, connect_now, port_of(server), server);
	server = listener(8);
	check_woken("listener.oneshot_one_set", EPOLLIN | EPOLLONESHOT, 1, connect_now, port_of(server), server);
	pair(fds);
	check_woken("data.sets", EPOLLIN, 0, later_send, fds[1], fds[0]);
	pair(fds);
	check_woken("data.exclusive_sets", EPOLLIN | EPOLLEXCLUSIVE, 0, later_send, fds[1], fds[0]);
	pair(fds);
	check_woken("data.edge_sets", EPOLLIN | EPOLLET, 0, later_send, fds[1], fds[0]);
	pair(fds);
	check_woken("data.edge_one_set", EPOLLIN | EPOLLET, 1, later_send, fds[1], fds[0]);
	pair(fds);
	check_woken("data.oneshot_one_set", EPOLLIN | EPOLLONESHOT, 1, later_send, fds[1], fds[0]);
}

/* With room for one event at a time all come in turn. */
SCENARIO(epoll_turns, .pairs = 6)
{
	int fds[3][2], seen[3] = { 0 };
	struct epoll_event got;

	new_set();
	for (int i = 0; i < 3; i++) {
		pair(fds[i]);
		MUST(ctl(EPOLL_CTL_ADD, fds[i][0], EPOLLIN, i));
		deliver(fds[i][1], fds[i][0], "x");
	}
	for (int i = 0; i < 3; i++) {
		CHECK(named("wait_%d", i), call.epoll_wait(set, &got, 1, 1000));
		seen[got.data.u32 % 3]++;
	}
	check("each", "%d %d %d", seen[0], seen[1], seen[2]);
}
