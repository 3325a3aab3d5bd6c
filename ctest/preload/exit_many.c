// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The end of a program with many connections whose peers read nothing: it waits once, for all together. However it
 * ends, and whoever moves the bytes: the program, its library, a relay.
 * rdma: 40
 * limit: 90
 */
#include "others.h"

enum { COUNT = 24 };

static int server;

/* Accepts, and reads nothing. */
static void *never_read(void *arg)
{
	for (;;)
		accept(server, NULL, NULL);
	return arg;
}

static void fill(int fd)
{
	static char room[65536];
	int empty = 0;

	/* Until nothing moves any more. */
	while (empty < 3)
		if (send(fd, room, sizeof room, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
			empty++;
			nap(5);
		}
}

static int quiet(int port, char how)
{
	int fds[COUNT];

	for (int i = 0; i < COUNT; i++) {
		fds[i] = MUST(socket(AF_INET, SOCK_STREAM, 0));
		if (connect_to(fds[i], HERE, port))
			return 20;
		fill(fds[i]);
	}
	if (how == 'c')
		for (int i = 0; i < COUNT; i++)
			close(fds[i]);
	/* Two of them through a relay. */
	if (how == 'd')
		for (int i = 0; i < 2; i++) {
			int copy = dup2(fds[i], i);

			send(copy, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		}
	/* A child that still has all of them. */
	if (how == 'f' && fork() == 0) {
		send(fds[0], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		nap(1000);
		_exit(0);
	}
	if (how == '_')
		_exit(7);
	return 7;
}

int main(int argc, char **argv)
{
	static const char *const roles[] = { "return", "_exit", "close", "dup", "fork" };
	pthread_t thread;

	self = argv[0];
	if (argc > 2)
		return quiet(atoi(argv[2]), argv[1][0]);
	server = listener(64);
	MUST(-pthread_create(&thread, NULL, never_read, NULL));
	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
		double begin;
		pid_t pid;

		TITLE(roles[i]);
		pid = start(roles[i], port_of(server), 0);
		begin = now();
		say("exit %d", exit_of(pid));
		say("in time %d", now() - begin < 4.5);
	}
	return 0;
}
