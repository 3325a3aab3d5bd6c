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

int main(int argc, char **argv)
{
	long rounds = argument(argc, argv, 1, 100);
	int pipes[2], set, ready, failed = 0;
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd fds[2];
	char data = 0;

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
	ROUNDS("write", rounds, failed |= write(pipes[1], &data, 1) != 1);
	ROUNDS("read", rounds, failed |= read(pipes[0], &data, 1) != 1);
	ROUNDS("poll", rounds, failed |= poll(fds, 2, 0) != 1);
	ROUNDS("select", rounds, {
		struct timeval now = { 0, 0 };
		fd_set readable;

		FD_ZERO(&readable);
		FD_SET(ready, &readable);
		failed |= select(ready + 1, &readable, NULL, NULL, &now) != 1;
	});
	ROUNDS("epoll_wait", rounds, failed |= epoll_wait(set, &event, 1, 0) != 1);
	MUST(socket(AF_INET, SOCK_STREAM, 0) >= 0);
	ROUNDS("write, beside a socket", rounds, failed |= write(pipes[1], &data, 1) != 1);
	ROUNDS("read, beside a socket", rounds, failed |= read(pipes[0], &data, 1) != 1);
	ROUNDS("poll, beside a socket", rounds, failed |= poll(fds, 2, 0) != 1);
	ROUNDS("select, beside a socket", rounds, {
		struct timeval now = { 0, 0 };
		fd_set readable;

		FD_ZERO(&readable);
		FD_SET(ready, &readable);
		failed |= select(ready + 1, &readable, NULL, NULL, &now) != 1;
	});
	ROUNDS("epoll_wait, beside a socket", rounds, failed |= epoll_wait(set, &event, 1, 0) != 1);
	MUST(!failed);
	return 0;
}
