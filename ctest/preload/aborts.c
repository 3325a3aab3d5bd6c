// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections that are aborted, and processes that end with one: the peer reads what was sent, then the end or
 * ECONNRESET.
 * rdma: 18
 */
#include "common.h"

static char buf[100000];

static void closes_at_once(int fd)
{
	struct linger linger = { 1, 0 };

	MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
	MUST(send(fd, buf, 1000, 0));
	nap(100);
	close(fd);
	pause();
}

static void closes_unread(int fd)
{
	MUST(send(fd, buf, 1000, 0));
	readable(fd, 5000);
	close(fd);
	pause();
}

static void closes(int fd)
{
	MUST(send(fd, buf, 1000, 0));
	close(fd);
	pause();
}

static void exits(int fd)
{
	MUST(send(fd, buf, sizeof buf, 0));
	exit(0);
}

static void leaves(int fd)
{
	MUST(send(fd, buf, sizeof buf, 0));
	_exit(0);
}

static void closes_and_leaves(int fd)
{
	MUST(send(fd, buf, sizeof buf, 0));
	close(fd);
	_exit(0);
}

static void exits_unread(int fd)
{
	MUST(send(fd, buf, 1000, 0));
	readable(fd, 5000);
	exit(0);
}

static void leaves_unread(int fd)
{
	MUST(send(fd, buf, 1000, 0));
	readable(fd, 5000);
	_exit(0);
}

static void dies(int fd)
{
	MUST(send(fd, buf, 1000, 0));
	nap(100);
	raise(SIGKILL);
}

static const struct ending {
	const char *name;
	void (*then)(int);
	/* Of TCP the kernel sends the end for a killed process; over RDMA nobody does. */
	int any_end;
	int sends_first; /* what the process does not read */
} endings[] = {
	{ "close without SO_LINGER", closes_at_once, 0, 0 },
	{ "close with unread data", closes_unread, 0, 1 },
	{ "close", closes, 0, 0 },
	{ "exit", exits, 0, 0 },
	{ "_exit", leaves, 0, 0 },
	{ "close and _exit", closes_and_leaves, 0, 0 },
	{ "exit with unread data", exits_unread, 0, 1 },
	{ "_exit with unread data", leaves_unread, 0, 1 },
	{ "SIGKILL", dies, 1, 0 },
};

static void one(const struct ending *ending)
{
	int ports[2], port, listening, fd;
	long n, got = 0;
	struct pollfd poll_one;
	pid_t pid;

	TITLE(ending->name);
	MUST(pipe(ports));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (read(ports[0], &port, sizeof port) != sizeof port)
			_exit(4);
		fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
		MUST(connect_to(fd, HERE, port));
		ending->then(fd);
	}
	listening = listener(4);
	port = port_of(listening);
	MUST(write(ports[1], &port, sizeof port));
	fd = MUST(accept(listening, NULL, NULL));
	if (ending->sends_first)
		MUST(send(fd, "unread", 6, 0));
	nap(1000);
	poll_one = (struct pollfd){ fd, POLLIN, 0 };
	poll(&poll_one, 1, 5000);
	if (!ending->any_end)
		say("error %d, hang-up %d", !!(poll_one.revents & POLLERR), !!(poll_one.revents & POLLHUP));
	while ((n = recv(fd, buf, sizeof buf, 0)) > 0)
		got += n;
	if (ending->any_end)
		say("%ld bytes, and it ends", got);
	else
		say("%ld bytes, then %ld %s", got, n, n < 0 ? errno_name(errno) : "");
	SAY(recv(fd, buf, sizeof buf, 0));
	close(fd);
	close(listening);
	close(ports[0]), close(ports[1]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void queued(void)
{
	int listening = listener(8), fds[4];

	TITLE("a listener that closes over its clients");
	for (int i = 0; i < 4; i++) {
		fds[i] = MUST(socket(AF_INET, SOCK_STREAM, 0));
		MUST(connect_to(fds[i], HERE, port_of(listening)));
	}
	nap(100);
	SAY(close(listening));
	for (int i = 0; i < 4; i++) {
		SAY(recv(fds[i], buf, 1, 0));
		SAY(recv(fds[i], buf, 1, 0));
		close(fds[i]);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		one(&endings[i]);
	queued();
	return 0;
}
