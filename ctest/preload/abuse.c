// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Threads that do anything to any socket at any time, with forks, copies and signals between: the program must come
 * to its end, whatever the calls give. Calls that wait are bounded by non-blocking sockets and short time limits.
 * limit: 60
 */
#include "common.h"

enum { SLOTS = 24, THREADS = 6, STEPS = 1500 };

static int slots[SLOTS], ports[4];

static int of(unsigned *seed)
{
	return __atomic_load_n(&slots[rand_r(seed) % SLOTS], __ATOMIC_SEQ_CST);
}

/* A number leaves its slot before it is closed, most of the time. */
static void put(unsigned *seed, int fd)
{
	int old;

	if (fd < 0)
		return;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	old = __atomic_exchange_n(&slots[rand_r(seed) % SLOTS], fd, __ATOMIC_SEQ_CST);
	if (old >= 0)
		close(old);
}

static void fresh(unsigned *seed)
{
	int fd = socket(AF_INET, (rand_r(seed) % 5 ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK, 0), which = rand_r(seed) % 4, on = 1;

	if (rand_r(seed) % 4 == 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		bind_to(fd, HERE, ports[which]);
		listen(fd, 8);
	} else if (rand_r(seed) % 3) {
		connect_to(fd, HERE, ports[which]);
	}
	put(seed, fd);
}

static void wait_some(unsigned *seed)
{
	struct pollfd set[4];
	fd_set in;
	int high = 0, fd;

	for (int i = 0; i < 4; i++)
		set[i] = (struct pollfd){ of(seed), (short)(rand_r(seed) & (POLLIN | POLLOUT | POLLRDHUP)), 0 };
	if (rand_r(seed) % 2) {
		poll(set, 4, rand_r(seed) % 4);
		return;
	}
	FD_ZERO(&in);
	for (int i = 0; i < 4; i++) {
		fd = set[i].fd;
		if (fd >= 0 && fd < FD_SETSIZE) {
			FD_SET(fd, &in);
			high = fd > high ? fd : high;
		}
	}
	select(high + 1, &in, NULL, NULL, &(struct timeval){ 0, rand_r(seed) % 3000 });
}

static void sets(unsigned *seed, int *set)
{
	struct epoll_event event = { .events = (rand_r(seed) & (EPOLLIN | EPOLLOUT | EPOLLRDHUP)) | (rand_r(seed) % 2 ? EPOLLET : 0) }, got[4];
	int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };

	if (*set < 0 || rand_r(seed) % 50 == 0) {
		if (*set >= 0)
			close(*set);
		*set = epoll_create1(0);
	}
	epoll_ctl(*set, ops[rand_r(seed) % 3], of(seed), &event);
	epoll_ctl(*set, EPOLL_CTL_ADD, of(seed), &event);
	epoll_wait(*set, got, 4, rand_r(seed) % 3);
}

static void child(unsigned *seed)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(10);
		for (int i = 0; i < 3; i++)
			close(of(seed));
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void *torment(void *arg)
{
	unsigned seed = (unsigned)(long)arg * 7919 + 1;
	struct sockaddr_in name;
	socklen_t length;
	char room[3000];
	int number, set = -1;

	for (int step = 0; step < STEPS; step++) {
		length = sizeof name;
		switch (rand_r(&seed) % 20) {
		case 0: case 1: fresh(&seed); break;
		case 2: case 3: put(&seed, accept4(of(&seed), NULL, NULL, SOCK_NONBLOCK)); break;
		case 4: case 5: send(of(&seed), room, rand_r(&seed) % sizeof room, MSG_NOSIGNAL); break;
		case 6: case 7: recv(of(&seed), room, rand_r(&seed) % sizeof room, rand_r(&seed) % 3 ? 0 : MSG_PEEK); break;
		case 8: shutdown(of(&seed), rand_r(&seed) % 3); break;
		case 9: put(&seed, dup(of(&seed))); break;
		case 10: wait_some(&seed); break;
		case 11: case 12: sets(&seed, &set); break;
		case 13: getsockname(of(&seed), (struct sockaddr *)&name, &length); break;
		case 14: getpeername(of(&seed), (struct sockaddr *)&name, &length); break;
		case 15: length = 4; getsockopt(of(&seed), SOL_SOCKET, SO_ERROR, &number, &length); break;
		case 16: ioctl(of(&seed), FIONREAD, &number); break;
		/* Onto a number of this thread's own: a number that was closed meanwhile may be the library's now. */
		case 17: dup2(of(&seed), 500 + (int)(long)arg); break;
		case 18: if (rand_r(&seed) % 20 == 0) child(&seed); break;
		case 19: connect_to(of(&seed), HERE, ports[rand_r(&seed) % 4]); break;
		}
	}
	if (set >= 0)
		close(set);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int fds[2], keep[4];

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < SLOTS; i++)
		slots[i] = -1;
	for (int i = 0; i < 4; i++) {
		keep[i] = listener(8);
		ports[i] = port_of(keep[i]);
		slots[i] = dup(keep[i]);
		fcntl(keep[i], F_SETFL, O_NONBLOCK);
	}
	for (long i = 0; i < THREADS; i++)
		MUST(-pthread_create(&threads[i], NULL, torment, (void *)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		if (slots[i] >= 0)
			close(slots[i]);
	for (int i = 0; i < 4; i++)
		close(keep[i]);
	/* And it still works. */
	pair(fds);
	ping(fds[0], fds[1]);
	close(fds[0]), close(fds[1]);
	say("done");
	return 0;
}
