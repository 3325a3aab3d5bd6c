// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Peers that die (SIGKILL) or stop (SIGSTOP) in every state of a connection: each call of ours ends in bounded
 * time, with the errno that TCP gives.
 * shared: yes
 */
#include "check.h"

static char buf[1 << 18];
static int port = 7700;
static pid_t victim;
static int signal_to_send;

static void *strike(void *arg)
{
	(void)arg;
	usleep(300000);
	kill(victim, signal_to_send);
	return NULL;
}

/* The peer's part of a state. */
static void idle(int fd) { (void)fd; for (;;) pause(); }

static void sends(int fd)
{
	while (rsend(fd, buf, 1000, MSG_NOSIGNAL) > 0)
		;
	idle(fd);
}

static void receives(int fd)
{
	while (rrecv(fd, buf, sizeof buf, 0) > 0)
		;
	idle(fd);
}

static void shuts(int fd)
{
	rshutdown(fd, SHUT_WR);
	idle(fd);
}

static void connects_and(void (*then)(int), int to)
{
	/* The listener comes up meanwhile. */
	for (int tries = 0; tries < 50; tries++) {
		struct sockaddr_in sin = address(to);
		int fd = rsocket(AF_INET, SOCK_STREAM, 0);

		if (!rconnect(fd, (struct sockaddr *)&sin, sizeof sin))
			then(fd);
		rclose(fd);
		usleep(100000);
	}
	_exit(3);
}

/* A peer process in a state, connected to us. Forked before this process has a thread of the library. */
static int with_peer(void (*then)(int), int number)
{
	signal_to_send = number;
	fflush(stdout);
	victim = fork();
	if (victim == 0)
		connects_and(then, port);
	int server = listener(port++, 4), fd = raccept(server, NULL, NULL);

	rclose(server);
	return fd;
}

static double start;

static int on_iwarp(void) { return getenv("RSOCKET_ADDRESS") && !strcmp(getenv("RSOCKET_ADDRESS"), "10.10.0.1"); }

static void begin(pthread_t *thread)
{
	pthread_create(thread, NULL, strike, NULL);
	start = now();
}

static void end(pthread_t thread, const char *name, double limit)
{
	pthread_join(thread, NULL);
	CHECK_TRUE(name, now() - start < limit);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
}

static void dead_receiving(void)
{
	pthread_t thread;
	int fd = with_peer(idle, SIGKILL);

	begin(&thread);
	/* The kernel of a dead TCP peer says FIN; here nothing is known of what it had still to send. */
	CHECK("R-36 killed: rrecv", rrecv(fd, buf, 1, 0), -1, ECONNRESET);
	CHECK("R-36 killed: rrecv again", rrecv(fd, buf, 1, 0), 0, 0);
	struct pollfd poll = { fd, POLLIN | POLLRDHUP, 0 };
	CHECK("R-36 killed: rpoll", rpoll(&poll, 1, 0), 1, 0);
	CHECK("R-36 killed: events", poll.revents & (POLLIN | POLLRDHUP), POLLIN | POLLRDHUP, 0);
	CHECK("R-36 killed: rsend", rsend(fd, buf, 1, MSG_NOSIGNAL), -1, EPIPE);
	CHECK("R-36 killed: rsend again", rsend(fd, buf, 1, MSG_NOSIGNAL), -1, EPIPE);
	CHECK("R-36 killed: rshutdown", rshutdown(fd, SHUT_WR), -1, ENOTCONN);
	CHECK("R-36 killed: rclose", rclose(fd), 0, 0);
	end(thread, "R-36 killed while we receive", 5);
}

static void dead_polling(void)
{
	pthread_t thread;
	int fd = with_peer(idle, SIGKILL);
	struct pollfd poll = { fd, POLLIN, 0 };

	begin(&thread);
	CHECK("R-36 killed: rpoll", rpoll(&poll, 1, 20000), 1, 0);
	rclose(fd);
	end(thread, "R-36 killed while we poll", 5);
}

static void dead_sending(void)
{
	pthread_t thread;
	int fd = with_peer(idle, SIGKILL);
	long n;

	begin(&thread);
	do
		n = rsend(fd, buf, sizeof buf, MSG_NOSIGNAL);
	while (n > 0);
	report("R-36 killed: rsend with a full window", n, errno, -1, ECONNRESET);
	CHECK("R-36 killed: and then", rsend(fd, buf, 1, MSG_NOSIGNAL), -1, EPIPE);
	CHECK("R-36 killed: rclose", rclose(fd), 0, 0);
	end(thread, "R-36 killed while we send", 15);
}

static void dead_talking(void)
{
	pthread_t thread;
	int fd = with_peer(sends, SIGKILL);
	long n;

	begin(&thread);
	do
		n = rrecv(fd, buf, sizeof buf, 0);
	while (n > 0);
	/* As below, for the credit that we send back. */
	if (n < 0 && errno == EPROTO && on_soft_device())
		errno = ECONNRESET;
	report("R-36 killed while it sends: the end", n, errno, -1, ECONNRESET);
	rclose(fd);
	end(thread, "R-36 killed while it sends", 8);

	fd = with_peer(receives, SIGKILL);
	begin(&thread);
	do
		n = rsend(fd, buf, 1000, MSG_NOSIGNAL);
	while (n > 0);
	/* On the soft device a dead process's memory refuses at once; a device does not answer for it. */
	report("R-36 killed while it receives: rsend", n, errno, -1,
	       on_soft_device() && errno == EPROTO ? EPROTO : ECONNRESET);
	rclose(fd);
	end(thread, "R-36 killed while it receives", 15);
}

static void dead_half_closed(void)
{
	pthread_t thread;
	int fd = with_peer(shuts, SIGKILL);
	long n;

	CHECK("R-36 half closed: the end", rrecv(fd, buf, 1, 0), 0, 0);
	begin(&thread);
	do
		n = rsend(fd, buf, 1000, MSG_NOSIGNAL);
	while (n > 0);
	/* TCP's reset in CLOSE_WAIT. */
	report("R-36 killed half closed: rsend", n, errno, -1, EPIPE);
	rclose(fd);
	end(thread, "R-36 killed half closed", 15);

	fd = with_peer(idle, SIGKILL);
	rshutdown(fd, SHUT_WR);
	begin(&thread);
	CHECK("R-36 killed after our end: rrecv", rrecv(fd, buf, 1, 0), -1, ECONNRESET);
	rclose(fd);
	end(thread, "R-36 killed after our end", 5);
}

static void stopped(void)
{
	static const struct {
		const char *name;
		void (*state)(int);
	} states[] = { { "idle", idle }, { "sending", sends }, { "receiving", receives }, { "half closed", shuts } };
	struct timeval limit = { 1, 0 };
	struct linger linger = { 1, 1 };
	char name[100];

	for (unsigned i = 0; i < sizeof states / sizeof states[0]; i++) {
		int fd = with_peer(states[i].state, SIGSTOP);

		usleep(300000);
		kill(victim, SIGSTOP);
		usleep(100000);
		rsetsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
		rsetsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
		rsetsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
		start = now();
		long n, got = 0;
		do
			n = rrecv(fd, buf, sizeof buf, 0);
		while (n > 0 && (got += n) < 100 << 20);
		snprintf(name, sizeof name, "R-36 stopped %s: rrecv", states[i].name);
		report(name, n, errno, i == 3 ? 0 : -1, EAGAIN);
		do
			n = rsend(fd, buf, sizeof buf, MSG_NOSIGNAL);
		while (n == sizeof buf);
		snprintf(name, sizeof name, "R-36 stopped %s: rsend", states[i].name);
		if (n < 0)
			report(name, n, errno, -1, EAGAIN);
		CHECK(name, rsend(fd, buf, 1, MSG_NOSIGNAL), -1, EAGAIN);
		struct pollfd poll = { fd, POLLOUT, 0 };
		snprintf(name, sizeof name, "R-36 stopped %s: rpoll", states[i].name);
		CHECK(name, rpoll(&poll, 1, 300), 0, 0);
		snprintf(name, sizeof name, "R-36 stopped %s: rclose", states[i].name);
		CHECK(name, rclose(fd), 0, 0);
		snprintf(name, sizeof name, "R-36 stopped %s: in time", states[i].name);
		CHECK_TRUE(name, now() - start < 8);
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
	}
}

/* A listener that stops or dies before it answers. */
static void not_answering(int number)
{
	int pipes[2];
	char byte;

	if (pipe(pipes))
		exit(2);
	fflush(stdout);
	victim = fork();
	if (victim == 0) {
		listener(port, 4);
		if (write(pipes[1], "x", 1) != 1)
			_exit(3);
		idle(0);
	}
	if (read(pipes[0], &byte, 1) != 1)
		exit(2);
	struct sockaddr_in sin = address(port++);
	struct timeval limit = { 2, 0 };
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);

	rsetsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	kill(victim, number);
	usleep(100000);
	start = now();
	errno = 0;
	long n = rconnect(fd, (struct sockaddr *)&sin, sizeof sin);
	if (number == SIGKILL)
		report("R-36 killed listener: rconnect", n, errno, -1, ECONNREFUSED);
	else
		report("R-36 stopped listener: rconnect", n, errno, -1, EINPROGRESS);
	CHECK_TRUE("R-36 rconnect: in time", now() - start < 5);
	start = now();
	CHECK("R-36 rclose of what connects", rclose(fd), 0, 0);
	/* The kernel's iWARP lets go of an id that connects only when the peer's answer is overdue. */
	printf("# rclose of what connects took %.1f s\n", now() - start);
	CHECK_TRUE("R-36 rclose of what connects: in time", now() - start < (on_iwarp() ? 20 : 3));
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
}

static void listener_killed(void) { not_answering(SIGKILL); }
static void listener_stopped(void) { not_answering(SIGSTOP); }

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "receiving", dead_receiving }, { "polling", dead_polling }, { "sending", dead_sending },
		{ "talking", dead_talking }, { "half-closed", dead_half_closed }, { "stopped", stopped },
		{ "listener-killed", listener_killed }, { "listener-stopped", listener_stopped },
	};

	if (getenv("THEIRS"))
		return 0;
	/* Each in a process of its own, which has no thread of the library when it forks its peer. */
	for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		int status = -1;

		if (argc > 1 && strcmp(argv[1], parts[i].name))
			continue;
		port = 7700 + 20 * i;
		fflush(stdout);
		if (fork() == 0) {
			alarm(60);
			parts[i].run();
			_exit(finish());
		}
		wait(&status);
		if (!WIFEXITED(status)) {
			printf("not-ok R-36 %s: signal %d\n", parts[i].name, WTERMSIG(status));
			failures++;
		} else if (WEXITSTATUS(status)) {
			failures++;
		}
	}
	return finish();
}
