// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A stream that is used again: connect to AF_UNSPEC at every moment of an attempt, in the middle of another thread's
 * connect, and what sets tell of the connection after that. Ours alone: the C library has no such connect.
 * shared: yes
 */
#include "check.h"

enum { PORT = 7220, ATTEMPTS = 1500, ROUNDS = 200, DESTROY_ID = 1 };

static const struct sockaddr unspec = { .sa_family = AF_UNSPEC };

static void *accept_all(void *arg)
{
	for (int fd;;)
		if ((fd = raccept((int)(long)arg, NULL, NULL)) >= 0)
			rclose(fd);
	return NULL;
}

static int dissolve(int fd) { return rconnect(fd, &unspec, sizeof unspec); }

/* Each attempt is given up after 0 to 1 ms: between any two events of it. */
static void given_up(int listening)
{
	struct sockaddr_in sin = address(PORT);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), failed = 0, before = 0;
	struct timespec pause = { 0 };
	pthread_t thread;

	pthread_create(&thread, NULL, accept_all, (void *)(long)listening);
	rfcntl(fd, F_SETFL, O_NONBLOCK);
	srand(1);
	for (int i = 0; i < ATTEMPTS; i++) {
		rconnect(fd, (struct sockaddr *)&sin, sizeof sin);
		pause.tv_nsec = rand() % 1000000;
		nanosleep(&pause, NULL);
		failed += i % 2 ? dissolve(fd) : rshutdown(fd, SHUT_RDWR) && errno != ENOTCONN;
		if (!(i % 2))
			dissolve(fd);
		if (i == ATTEMPTS / 4)
			before = open_files();
	}
	CHECK("attempts are given up", failed, 0, 0);
	/* What the pool has kept of those that were connected goes after a moment. */
	for (int ms = 0; ms < 10000 && open_files() > before + 4; ms += 50)
		usleep(50000);
	CHECK_TRUE("no descriptor is left of them", open_files() <= before + 4);
	rfcntl(fd, F_SETFL, 0);
	CHECK("and the last connects", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), 0, 0);
	rclose(fd);
}

static int told(int set)
{
	struct epoll_event event = { 0 };

	return repoll_wait(set, &event, 1, 500) == 1 ? (int)event.events : 0;
}

/* As on the connection before: the same bytes, the same refusal. Each is an edge of its own. */
static void edges(int listening)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	struct sockaddr_in sin = address(PORT + 1), nobody = address(PORT + 2);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), set = repoll_create(EPOLL_CLOEXEC), error, accepted;
	socklen_t size = sizeof error;
	char bytes[8];

	rfcntl(fd, F_SETFL, O_NONBLOCK);
	CHECK("add", repoll_ctl(set, EPOLL_CTL_ADD, fd, &event), 0, 0);
	CHECK("an unconnected stream", told(set), EPOLLOUT | EPOLLHUP, 0);
	for (int i = 0; i < 3; i++) {
		rconnect(fd, (struct sockaddr *)&sin, sizeof sin);
		accepted = raccept(listening, NULL, NULL);
		rsend(accepted, "hello", 5, 0);
		usleep(100000);
		CHECK("connected, with data", told(set), EPOLLIN | EPOLLOUT, 0);
		CHECK("the data", rrecv(fd, bytes, sizeof bytes, 0), 5, 0);
		CHECK("dissolved", dissolve(fd), 0, 0);
		rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
		rclose(accepted);
	}
	rconnect(fd, (struct sockaddr *)&sin, sizeof sin);
	accepted = raccept(listening, NULL, NULL);
	usleep(100000);
	told(set);
	dissolve(fd);
	rconnect(fd, (struct sockaddr *)&sin, sizeof sin);
	rclose(accepted);
	accepted = raccept(listening, NULL, NULL);
	usleep(100000);
	CHECK("connected again before anybody has looked", told(set) & EPOLLOUT, EPOLLOUT, 0);
	dissolve(fd);
	rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	for (int i = 0; i < 2; i++) {
		rconnect(fd, (struct sockaddr *)&nobody, sizeof nobody);
		usleep(100000);
		CHECK_TRUE("refused", told(set) & EPOLLERR);
		rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
		CHECK("why", error, ECONNREFUSED, 0);
		CHECK("reported by another connect", rconnect(fd, (struct sockaddr *)&nobody, sizeof nobody), -1, ECONNABORTED);
		CHECK("as new", told(set), EPOLLOUT | EPOLLHUP, 0);
	}
	rclose(accepted);
	rclose(set);
	rclose(fd);
}

static int busy;

static void *connect_busy(void *arg)
{
	struct sockaddr_in sin = address(PORT);

	rconnect(busy, (struct sockaddr *)&sin, sizeof sin);
	return NULL;
}

/* What waits in connect returns, and leaves alone what the stream does by then. */
static void by_another_thread(void)
{
	int not_listening = 0, broken = 0, on = 1;

	for (int i = 0; i < ROUNDS; i++) {
		struct sockaddr_in own = address(PORT + 3);
		pthread_t thread;

		busy = rsocket(AF_INET, SOCK_STREAM, 0);
		rsetsockopt(busy, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		rbind(busy, (struct sockaddr *)&own, sizeof own);
		pthread_create(&thread, NULL, connect_busy, NULL);
		usleep((useconds_t)rand() % 400);
		dissolve(busy);
		not_listening += rlisten(busy, 5) != 0;
		pthread_join(thread, NULL);
		rfcntl(busy, F_SETFL, O_NONBLOCK);
		broken += raccept(busy, NULL, NULL) >= 0 || errno != EAGAIN;
		rclose(busy);
	}
	CHECK("given up by another thread: listens", not_listening, 0, 0);
	CHECK("given up by another thread: is a listener", broken, 0, 0);
}

static void *dissolve_busy(void *unused)
{
	dissolve(busy);
	return unused;
}

/* The connection that one thread gives up is still being taken down when another one connects anew: what it uses
 * stays until then. */
static void beside_connect(void)
{
	__typeof__(&rdmafake_commands) commands = RDMAFAKE(rdmafake_commands);
	pthread_t ends, connects;
	uint64_t before;
	int fds[2];

	pair(PORT + 4, fds);
	busy = fds[1];
	usleep(300000);
	before = commands(DESTROY_ID);
	RDMAFAKE(rdmafake_script)("hold verb:destroy_qp label=end");
	pthread_create(&ends, NULL, dissolve_busy, NULL);
	CHECK("beside a connect: the end begins", RDMAFAKE(rdmafake_wait_held)("end", 5000), 0, 0);
	pthread_create(&connects, NULL, connect_busy, NULL);
	usleep(300000);
	CHECK("beside a connect: ids destroyed before the queue pair", commands(DESTROY_ID) - before, 0, 0);
	RDMAFAKE(rdmafake_release)("end");
	pthread_join(ends, NULL);
	pthread_join(connects, NULL);
	rclose(fds[0]);
	rclose(fds[1]);
}

int main(void)
{
	int listening, other;

	if (!repoll_create) {
		printf("# no repoll in this library\n");
		return 0;
	}
	listening = listener(PORT, 128);
	other = listener(PORT + 1, 16);
	given_up(listening);
	edges(other);
	by_another_thread();
	if (on_soft_device())
		beside_connect();
	return finish();
}
