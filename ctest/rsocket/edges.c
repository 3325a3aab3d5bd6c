// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* repoll: several threads wait for one set, and an edge (EPOLLET) or an EPOLLONESHOT event is told to one of them, once. */
#include "check.h"

enum { THREADS = 4, ROUNDS = 100 };

static int set;
static volatile int stop;
static _Atomic int told;
static char buf[8];

/* Half of them never sleep. */
static void *wait_run(void *sleeps)
{
	struct epoll_event event;

	while (!stop)
		if (repoll_wait(set, &event, 1, sleeps ? 50 : 0) == 1)
			told++;
	return NULL;
}

static int told_exactly(int wanted)
{
	for (int ms = 0; told < wanted && ms < 5000; ms++)
		usleep(1000);
	usleep(5000);
	return told == wanted;
}

static void rounds(const char *name, unsigned events, int fds[2])
{
	struct epoll_event event = { .events = events };
	int exact = 0;

	told = 0;
	CHECK("add", repoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event), 0, 0);
	usleep(50000);
	CHECK("told when it is added, if it can be written to", told, events & EPOLLOUT ? 1 : 0, 0);
	told = 0;
	for (int i = 1; i <= ROUNDS; i++) {
		rsend(fds[1], "x", 1, 0);
		exact += told_exactly(i);
		rrecv(fds[0], buf, sizeof(buf), 0);
		if (events & EPOLLONESHOT)
			repoll_ctl(set, EPOLL_CTL_MOD, fds[0], &event);
	}
	CHECK(name, exact, ROUNDS, 0);
	CHECK("delete", repoll_ctl(set, EPOLL_CTL_DEL, fds[0], NULL), 0, 0);
}

int main(void)
{
	pthread_t threads[THREADS];
	int fds[2];

	if (!repoll_create) {
		printf("# no repoll in this library\n");
		return 0;
	}
	set = repoll_create(EPOLL_CLOEXEC);
	pair(7210, fds);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, wait_run, i % 2 ? &threads : NULL);
	rounds("an edge is told once", EPOLLIN | EPOLLET, fds);
	rounds("an edge is told once, with room to write", EPOLLIN | EPOLLOUT | EPOLLET, fds);
	rounds("a one-shot event is told once", EPOLLIN | EPOLLONESHOT, fds);
	rounds("a one-shot edge is told once", EPOLLIN | EPOLLET | EPOLLONESHOT, fds);
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	rclose(fds[0]);
	rclose(fds[1]);
	rclose(set);
	return failures != 0;
}
