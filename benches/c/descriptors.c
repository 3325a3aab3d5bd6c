/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a preload library costs on descriptors that are no sockets: calls on a pipe and an eventfd, in a program
 * that has no sockets, and beside one.
 * The instructions of the kernel do not count, so what is seen is libc and what is in front of it.
 */
#include "bench.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>

static int pipes[2], set, ready, failed;
static struct epoll_event event = { .events = EPOLLIN };
static struct pollfd fds[2];
static char data;

static void select_one(void)
{
	struct timeval now = { 0, 0 };
	fd_set readable;

	FD_ZERO(&readable);
	FD_SET(ready, &readable);
	failed |= select(ready + 1, &readable, NULL, NULL, &now) != 1;
}

/* Each call by a name of its own, which a count is kept under. */
static void calls(long rounds, const char *const names[5])
{
	ROUNDS(names[0], rounds, failed |= write(pipes[1], &data, 1) != 1);
	ROUNDS(names[1], rounds, failed |= read(pipes[0], &data, 1) != 1);
	ROUNDS(names[2], rounds, failed |= poll(fds, 2, 0) != 1);
	ROUNDS(names[3], rounds, select_one());
	ROUNDS(names[4], rounds, failed |= epoll_wait(set, &event, 1, 0) != 1);
}

int main(int argc, char **argv)
{
	static const char *const alone[] = { "write", "read", "poll", "select", "epoll_wait" };
	static const char *const beside[] = { "write, beside a socket", "read, beside a socket", "poll, beside a socket",
					      "select, beside a socket", "epoll_wait, beside a socket" };
	long rounds = argument(argc, argv, 1, 100);

	MUST(!pipe(pipes));
	MUST((ready = eventfd(1, 0)) >= 0);
	MUST((set = epoll_create1(0)) >= 0);
	MUST(!epoll_ctl(set, EPOLL_CTL_ADD, ready, &event));
	fds[0] = (struct pollfd){ .fd = ready, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	/* What is done once for a process is not what is measured. */
	for (int i = 0; i < 3; i++) {
		failed |= write(pipes[1], &data, 1) != 1 || read(pipes[0], &data, 1) != 1;
		failed |= poll(fds, 2, 0) != 1 || epoll_wait(set, &event, 1, 0) != 1;
	}
	calls(rounds, alone);
	MUST(socket(AF_INET, SOCK_STREAM, 0) >= 0);
	calls(rounds, beside);
	MUST(!failed);
	return 0;
}
