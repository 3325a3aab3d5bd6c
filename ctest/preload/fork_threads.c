// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Forks while other threads make and close connections all the time. A child may leave, exec, use what it inherited, make
 * connections of its own, or fork again; nobody else's bytes may be touched by that.
 * rdma: 100
 * limit: 90
 */
#include "common.h"
#include "check.h"

enum { FORKS = 80, THREADS = 3 };
static volatile int stop;

/* One connection after the other, one byte each. */
static void *traffic(void *non_blocking)
{
	while (!stop) {
		int server = listener(4), fds[2];
		char byte;

		if (non_blocking) {
			struct pollfd one = { MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)), POLLOUT, 0 };

			fds[1] = one.fd;
			connect_to(fds[1], HERE, port_of(server));
			fds[0] = MUST(accept(server, NULL, NULL));
			if (poll(&one, 1, 5000) != 1)
				check("a thread's connect", 0);
		} else {
			pair_of(server, fds);
		}
		if (send(fds[0], "x", 1, MSG_NOSIGNAL) != 1 || !readable(fds[1], 5000) || recv(fds[1], &byte, 1, 0) != 1)
			check("a thread's byte", 0);
		close(fds[0]), close(fds[1]), close(server);
	}
	return NULL;
}

enum { LEAVES, CLOSES_ALL, EXECS, CLOSES, CONNECTS, WRITES, GRANDCHILD, WAITS, KINDS };

static int child(int kind, int fds[2])
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT };
	struct pollfd one = { fds[0], POLLIN, 0 };
	int own[2], set;
	char byte;
	pid_t pid;

	alarm(15);
	switch (kind) {
	case CLOSES_ALL: closefrom(3); return 0;
	case EXECS: execl("/bin/true", "true", NULL); return 1;
	case CLOSES: close(fds[0]), close(fds[1]); return 0;
	case CONNECTS:
		pair(own);
		return send(own[0], "z", 1, MSG_NOSIGNAL) != 1 || recv(own[1], &byte, 1, 0) != 1;
	case WRITES: close(fds[1]); return send(fds[0], "c", 1, MSG_NOSIGNAL) != 1;
	case GRANDCHILD:
		poll(&one, 1, 20);
		pid = fork();
		if (pid == 0)
			_exit(send(fds[0], "g", 1, MSG_NOSIGNAL) != 1);
		return exit_of(pid);
	case WAITS:
		set = epoll_create1(0);
		epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event);
		return epoll_wait(set, &event, 1, 5000) != 1;
	}
	return 0;
}

static int judge(int kind)
{
	int fds[2], good;
	char byte;
	pid_t pid;

	pair(fds);
	pid = MUST(fork());
	if (pid == 0)
		_exit(child(kind, fds));
	if (kind == WRITES || kind == GRANDCHILD)
		good = readable(fds[1], 10000) && recv(fds[1], &byte, 1, 0) == 1;
	else
		good = kind == WAITS || (send(fds[0], "m", 1, MSG_NOSIGNAL) == 1 && recv(fds[1], &byte, 1, 0) == 1);
	good &= exit_of(pid) == 0;
	close(fds[0]);
	good &= recv(fds[1], &byte, 1, 0) == 0;
	close(fds[1]);
	return good;
}

int main(void)
{
	static const char *const names[KINDS] = { "leaves", "closes all", "execs", "closes",
						  "connects", "writes", "has a child", "waits" };
	int good[KINDS] = { 0 };
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, traffic, (void *)i);
	for (int i = 0; i < FORKS; i++)
		good[i % KINDS] += judge(i % KINDS);
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < KINDS; i++)
		say("%s: %d of %d", names[i], good[i], FORKS / KINDS);
	return failures != 0;
}
