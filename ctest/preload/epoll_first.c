// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Threads sleep in an instance before it has its first socket: in epoll_wait, on a copy of its descriptor, in poll, select
 * or another instance. What is added then wakes them, and a listener is one over RDMA.
 * rdma: 44
 * env: RS_REQUIRE_RDMA=1
 */
#include "common.h"
#include <sys/wait.h>

enum how { WAIT, PWAIT, PWAIT2, POLL, PPOLL, SELECT, NESTED };

struct sleeper {
	pthread_t thread;
	enum how how;
	int set, got;
	unsigned data;
};

static void add(int set, int fd, unsigned bits, int data)
{
	MUST(epoll_ctl(set, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = bits, .data.u32 = data }));
}

/* Sleeps outside of the instance until that has an event, and takes it. The instance may be reported once too often. */
static int sleep_outside(enum how how, int set, struct epoll_event *got)
{
	struct pollfd one = { set, POLLIN, 0 };
	double end = now() + 5;
	int outer = -1, n = 0;

	if (how == NESTED)
		add(outer = MUST(epoll_create1(0)), set, EPOLLIN, 0);
	while (!n && now() < end) {
		fd_set in;

		FD_ZERO(&in);
		FD_SET(set, &in);
		if (how == POLL)
			MUST(poll(&one, 1, 5000));
		else if (how == PPOLL)
			MUST(ppoll(&one, 1, &(struct timespec){ 5, 0 }, NULL));
		else if (how == SELECT)
			MUST(select(set + 1, &in, NULL, NULL, &(struct timeval){ 5, 0 }));
		else
			MUST(epoll_wait(outer, &(struct epoll_event){ 0 }, 1, 5000));
		n = MUST(epoll_wait(set, got, 1, 0));
	}
	if (outer >= 0)
		close(outer);
	return n;
}

static void *sleeper_run(void *arg)
{
	struct sleeper *sleeper = arg;
	struct epoll_event got = { 0 };

	if (sleeper->how == WAIT)
		sleeper->got = epoll_wait(sleeper->set, &got, 1, 5000);
	else if (sleeper->how == PWAIT)
		sleeper->got = epoll_pwait(sleeper->set, &got, 1, 5000, &(sigset_t){ 0 });
	else if (sleeper->how == PWAIT2)
		sleeper->got = epoll_pwait2(sleeper->set, &got, 1, &(struct timespec){ 5, 0 }, NULL);
	else
		sleeper->got = sleep_outside(sleeper->how, sleeper->set, &got);
	sleeper->data = got.data.u32;
	return NULL;
}

static void begin(struct sleeper *sleeper, enum how how, int set)
{
	*sleeper = (struct sleeper){ .how = how, .set = set };
	MUST(-pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper));
	nap(100);
}

static void end(struct sleeper *sleeper)
{
	pthread_join(sleeper->thread, NULL);
	say("%d, data %u", sleeper->got, sleeper->data);
}

/* A listener that nobody has asked for clients. */
static int quiet(void)
{
	int fd = MUST(socket(AF_INET, SOCK_STREAM, 0));

	MUST(bind_to(fd, HERE, 0));
	MUST(listen(fd, 8));
	return fd;
}

/* A client, which is refused until the sleeper has made the listener one over RDMA. */
static void *client_run(void *arg)
{
	struct dialer *client = arg;
	double end = now() + 4;

	do {
		client->fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
		client->error = connect_to(client->fd, client->host, client->port) ? errno : 0;
		if (client->error)
			close(client->fd), nap(20);
	} while (client->error == ECONNREFUSED && now() < end);
	if (client->error) {
		say("connect: %s", errno_name(client->error));
		exit(3);
	}
	return NULL;
}

static void call(struct dialer *client, int server)
{
	*client = (struct dialer){ .host = HERE, .port = port_of(server) };
	MUST(-pthread_create(&client->thread, NULL, client_run, client));
}

/* The sleeper is told of a client, which the listener then accepts. */
static void client_of(int server, struct sleeper *sleeper)
{
	struct dialer dialer;
	int fds[2];

	call(&dialer, server);
	end(sleeper);
	fds[0] = MUST(accept(server, NULL, NULL));
	fds[1] = dialed(&dialer);
	ping(fds[0], fds[1]);
	close(fds[0]), close(fds[1]);
}

static void listeners(enum how how, const char *name)
{
	int set = MUST(epoll_create1(0)), server = quiet();
	struct sleeper sleeper;

	say("-- %s", name);
	begin(&sleeper, how, set);
	add(set, server, EPOLLIN, 1);
	client_of(server, &sleeper);
	close(server), close(set);
}

static void streams(enum how how)
{
	int set = MUST(epoll_create1(0)), fds[2];
	struct sleeper sleeper;

	TITLE("a stream with data");
	pair(fds);
	MUST(send(fds[1], "x", 1, 0));
	readable(fds[0], 3000);
	begin(&sleeper, how, set);
	add(set, fds[0], EPOLLIN, 1);
	end(&sleeper);
	close(set);
	TITLE("a stream, and data later");
	set = MUST(epoll_create1(0));
	MUST(recv(fds[0], &(char){ 0 }, 1, 0));
	begin(&sleeper, how, set);
	add(set, fds[0], EPOLLIN, 2);
	nap(50);
	MUST(send(fds[1], "x", 1, 0));
	end(&sleeper);
	close(set);
	TITLE("a stream that is changed");
	set = MUST(epoll_create1(0));
	begin(&sleeper, how, set);
	add(set, fds[0], 0, 3);
	nap(50);
	MUST(epoll_ctl(set, EPOLL_CTL_MOD, fds[0], &(struct epoll_event){ .events = EPOLLOUT, .data.u32 = 4 }));
	end(&sleeper);
	close(set), close(fds[0]), close(fds[1]);
}

static void changed_listener(void)
{
	int set = MUST(epoll_create1(0)), server = quiet();
	struct sleeper sleeper;

	TITLE("a listener that is changed");
	begin(&sleeper, WAIT, set);
	add(set, server, 0, 1);
	nap(50);
	MUST(epoll_ctl(set, EPOLL_CTL_MOD, server, &(struct epoll_event){ .events = EPOLLIN, .data.u32 = 2 }));
	client_of(server, &sleeper);
	close(server), close(set);
}

/* The first sleeper is busy with its event when the second listener comes. */
static void two_sleepers(void)
{
	int set = MUST(epoll_create1(0)), first = quiet(), second = quiet();
	struct sleeper one, other;
	struct dialer dialer;

	TITLE("two sleepers, two listeners");
	begin(&one, WAIT, set), begin(&other, WAIT, set);
	add(set, first, EPOLLIN | EPOLLONESHOT, 1);
	call(&dialer, first);
	int peer = MUST(accept(first, NULL, NULL)), client = dialed(&dialer);

	/* One of the two was told, or none: the listener may be empty again. */
	nap(100);
	add(set, second, EPOLLIN, 1);
	call(&dialer, second);
	pthread_join(other.thread, NULL);
	pthread_join(one.thread, NULL);
	say("told: %d", one.got == 1 || other.got == 1);
	close(peer), close(client);
	peer = MUST(accept(second, NULL, NULL)), client = dialed(&dialer);
	ping(peer, client);
	close(peer), close(client), close(first), close(second), close(set);
}

/* The same instance under two numbers, neither known to have a socket. */
static void copies(void)
{
	int set = MUST(epoll_create1(0)), copy = MUST(dup(set)), server = quiet();
	struct sleeper sleeper;

	TITLE("asleep on the copy");
	begin(&sleeper, WAIT, copy);
	add(set, server, EPOLLIN, 1);
	client_of(server, &sleeper);
	begin(&sleeper, WAIT, copy);
	client_of(server, &sleeper);
	TITLE("added by the copy, changed by the first");
	SAY(epoll_ctl(copy, EPOLL_CTL_ADD, server, &(struct epoll_event){ .events = EPOLLIN }));
	SAY(epoll_ctl(copy, EPOLL_CTL_MOD, server, &(struct epoll_event){ .events = EPOLLIN, .data.u32 = 7 }));
	begin(&sleeper, WAIT, set);
	client_of(server, &sleeper);
	SAY(close(set));
	begin(&sleeper, WAIT, copy);
	client_of(server, &sleeper);
	SAY(epoll_ctl(copy, EPOLL_CTL_DEL, server, NULL));
	close(copy), close(server);
}

static void inherited(void)
{
	int set = MUST(epoll_create1(0)), status;
	struct sleeper sleeper;
	pid_t child;

	TITLE("an inherited instance");
	fflush(stdout);
	if (!(child = fork())) {
		int server = quiet();

		begin(&sleeper, WAIT, set);
		add(set, server, EPOLLIN, 1);
		client_of(server, &sleeper);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	say("%d", status);
	close(set);
}

int main(void)
{
	inherited();
	listeners(WAIT, "epoll_wait");
	listeners(PWAIT, "epoll_pwait");
	listeners(PWAIT2, "epoll_pwait2");
	listeners(POLL, "poll");
	listeners(PPOLL, "ppoll");
	listeners(SELECT, "select");
	listeners(NESTED, "another instance");
	for (enum how how = WAIT; how <= NESTED; how++)
		streams(how);
	changed_listener();
	two_sleepers();
	copies();
	return 0;
}
