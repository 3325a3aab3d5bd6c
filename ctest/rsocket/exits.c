// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A process that ends: its connections end as the kernel ends those of TCP. The peer reads what was sent and then
 * the end, or ECONNRESET where the process had not read all that it was sent, or had set SO_LINGER to 0.
 * shared: yes
 */
#include "check.h"

int rfinish(int timeout) __attribute__((weak));

enum { LENGTH = 100000 };

static char buf[1 << 18];
static int port = 7740;
static pid_t pid;

/* The part of the process that ends. */
static void sends(int fd)
{
	if (rsend(fd, buf, LENGTH, 0) != LENGTH)
		_exit(4);
}

static void exits(int fd)
{
	sends(fd);
	exit(0);
}

static void closes_and_exits(int fd)
{
	sends(fd);
	rclose(fd);
	exit(0);
}

static void closes_and_leaves(int fd)
{
	sends(fd);
	rclose(fd);
	if (rfinish)
		rfinish(2000);
	_exit(0);
}

static void shuts_and_exits(int fd)
{
	sends(fd);
	rshutdown(fd, SHUT_WR);
	exit(0);
}

static void finishes(int fd)
{
	sends(fd);
	if (rfinish)
		CHECK("R-36 exit: rfinish", rfinish(2000), 0, 0);
	_exit(0);
}

static void leaves(int fd)
{
	sends(fd);
	usleep(100000);
	_exit(0);
}

static void *sleeps(void *arg)
{
	rrecv((int)(long)arg, buf, 1, 0);
	return NULL;
}

static void exits_beside_a_call(int fd)
{
	pthread_t thread;

	sends(fd);
	pthread_create(&thread, NULL, sleeps, (void *)(long)fd);
	usleep(100000);
	exit(0);
}

static void *ends_all(void *arg)
{
	(void)arg;
	usleep(100000);
	exit(0);
}

static void exits_in_a_thread(int fd)
{
	pthread_t thread;

	sends(fd);
	pthread_create(&thread, NULL, ends_all, NULL);
	rrecv(fd, buf, 1, 0);
	pause();
}

static void child_exits_first(int fd)
{
	sends(fd);
	if (!fork())
		exit(0);
	wait(NULL);
	usleep(300000);
	if (rsend(fd, "!", 1, 0) != 1)
		_exit(5);
	exit(0);
}

static void exits_with_unread_data(int fd)
{
	struct pollfd poll = { fd, POLLIN, 0 };

	sends(fd);
	rpoll(&poll, 1, 5000);
	exit(0);
}

static void exits_without_linger(int fd)
{
	struct linger linger = { 1, 0 };

	rsetsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	sends(fd);
	exit(0);
}

static int with_peer(void (*then)(int))
{
	int server, fd;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		/* The listener comes up meanwhile. */
		for (int tries = 0; tries < 50; tries++) {
			struct sockaddr_in sin = address(port);

			fd = rsocket(AF_INET, SOCK_STREAM, 0);
			if (!rconnect(fd, (struct sockaddr *)&sin, sizeof sin)) {
				then(fd);
				_exit(6);
			}
			rclose(fd);
			usleep(100000);
		}
		_exit(3);
	}
	server = listener(port++, 4);
	fd = raccept(server, NULL, NULL);
	rclose(server);
	return fd;
}

static const struct ending {
	const char *name;
	void (*then)(int);
	int bytes, error;
	int sends_first; /* what the process does not read */
} endings[] = {
	{ "exit", exits, LENGTH, 0, 0 },
	{ "rclose and exit", closes_and_exits, LENGTH, 0, 0 },
	{ "rclose, rfinish and _exit", closes_and_leaves, LENGTH, 0, 0 },
	{ "rshutdown and exit", shuts_and_exits, LENGTH, 0, 0 },
	{ "rfinish and _exit", finishes, LENGTH, 0, 0 },
	{ "_exit", leaves, LENGTH, ECONNRESET, 0 },
	{ "exit beside a call", exits_beside_a_call, LENGTH, 0, 0 },
	{ "exit in a thread", exits_in_a_thread, LENGTH, 0, 0 },
	{ "exit of a child, then", child_exits_first, LENGTH + 1, 0, 0 },
	{ "exit with unread data", exits_with_unread_data, LENGTH, ECONNRESET, 1 },
	{ "exit without SO_LINGER", exits_without_linger, LENGTH, ECONNRESET, 0 },
};

static void ends(const struct ending *ending)
{
	int fd = with_peer(ending->then);
	long n, got = 0;
	char name[100];

	if (ending->sends_first)
		rsend(fd, buf, 10, 0);
	while ((n = rrecv(fd, buf, sizeof buf, 0)) > 0)
		got += n;
	snprintf(name, sizeof name, "R-36 %s: the end", ending->name);
	/* On the soft device a dead process's memory refuses our credits at once; a device does not answer for it. */
	if (n < 0 && errno == EPROTO && on_soft_device())
		errno = ECONNRESET;
	report(name, n, errno, ending->error ? -1 : 0, ending->error);
	snprintf(name, sizeof name, "R-36 %s: what was sent", ending->name);
	CHECK(name, got, ending->bytes, 0);
	snprintf(name, sizeof name, "R-36 %s: after the end", ending->name);
	CHECK(name, rrecv(fd, buf, sizeof buf, 0), 0, 0);
	CHECK(name, rclose(fd), 0, 0);
	snprintf(name, sizeof name, "R-36 %s: the process", ending->name);
	CHECK(name, exit_of(pid), 0, 0);
}

int main(void)
{
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		ends(&endings[i]);
	return finish();
}
