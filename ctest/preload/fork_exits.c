// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Children leave by _exit while their own threads make and close connections, and so do threads of the parent. Each ends
 * as it says, and the parent's connections are not touched by that.
 * rdma: 100
 * limit: 120
 */
#include "common.h"

enum { FORKS = 60, THREADS = 2 };
static volatile int stop;
static _Atomic int lost;

/* One connection after the other, some bytes each. A child's may fail: it is leaving. */
static void *traffic(void *of_child)
{
	while (!stop) {
		int server = listener(4), fds[2];
		char bytes[64];

		pair_of(server, fds);
		for (int i = 0; i < 4; i++)
			if (send(fds[i & 1], "x", 1, MSG_NOSIGNAL) != 1 || !readable(fds[!(i & 1)], 5000) ||
			    recv(fds[!(i & 1)], bytes, sizeof(bytes), 0) != 1)
				lost += !of_child;
		close(fds[0]), close(fds[1]), close(server);
	}
	return NULL;
}

static void child(int number)
{
	pthread_t threads[THREADS];

	alarm(15);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, traffic, "");
	usleep(50000 + number % 20 * 5000 + number * 37 % 1000);
	_exit(7);
}

int main(void)
{
	pthread_t threads[THREADS];
	int good = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, traffic, NULL);
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = MUST(fork());

		if (pid == 0)
			child(i);
		good += exit_of(pid) == 7;
	}
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("children: %d of %d, lost bytes %d", good, FORKS, lost);
	return 0;
}
