// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* repoll_ctl: threads that add and remove the same socket, and one that closes it meanwhile, find the set as if one call came
 * after the other. */
#include "check.h"

enum { THREADS = 4, TURNS = 20000 };

static int set, fds[2];
static volatile int start;
static _Atomic int added, removed, strange;

static void *change(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 7 };
	unsigned seed = (unsigned)(size_t)arg;

	while (!start)
		;
	for (int i = 0; i < TURNS; i++) {
		int adds = rand_r(&seed) & 1, result = repoll_ctl(set, adds ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fds[0], &event);

		if (!result)
			(*(adds ? &added : &removed))++;
		else if (errno != (adds ? EEXIST : ENOENT))
			strange++;
	}
	return NULL;
}

static void *close_run(void *arg)
{
	(void)arg;
	while (!start)
		;
	usleep(2000);
	rclose(fds[0]);
	return NULL;
}

static void together(void *(*other)(void *))
{
	pthread_t threads[THREADS + 1];
	int count = THREADS;

	start = added = removed = strange = 0;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, change, (void *)(i + 1));
	if (other)
		pthread_create(&threads[count++], NULL, other, NULL);
	start = 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 7 }, found = { 0 };

	if (!repoll_create) {
		printf("# no repoll in this library\n");
		return 0;
	}
	set = repoll_create(EPOLL_CLOEXEC);
	pair(7215, fds);
	together(NULL);
	CHECK("no other error", strange, 0, 0);
	CHECK_TRUE("as often added as removed, or once more", added == removed || added == removed + 1);
	CHECK("in the set or not", repoll_ctl(set, EPOLL_CTL_DEL, fds[0], NULL), added == removed ? -1 : 0, ENOENT);
	CHECK("not any more", repoll_ctl(set, EPOLL_CTL_DEL, fds[0], NULL), -1, ENOENT);
	CHECK("send", rsend(fds[1], "x", 1, 0), 1, 0);
	CHECK("nothing is told", repoll_wait(set, &found, 1, 50), 0, 0);
	CHECK("add", repoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event), 0, 0);
	CHECK("it is told", repoll_wait(set, &found, 1, 5000), 1, 0);
	CHECK("with its data", found.data.u64, 7, 0);
	CHECK("remove", repoll_ctl(set, EPOLL_CTL_DEL, fds[0], NULL), 0, 0);
	together(close_run);
	CHECK("a closed one is in no set", repoll_wait(set, &found, 1, 50), 0, 0);
	rclose(fds[1]);
	CHECK("the set's end", rclose(set), 0, 0);
	return finish();
}
