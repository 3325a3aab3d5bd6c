// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Threads: many connect at once, one accepts and another closes, listeners that end under a waiter.
 * rdma: 100
 * limit: 60
 */
#include "common.h"

enum { THREADS = 10, ROUNDS = 6 };

static int port, server;
static int served, failed;

static void count(int *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_SEQ_CST);
}

static void *serve_one(void *arg)
{
	int fd = (int)(long)arg;
	char room[4096];
	long n;

	while ((n = recv(fd, room, sizeof room, 0)) > 0)
		if (write_all(fd, room, n) != n)
			break;
	close(fd);
	count(&served);
	return NULL;
}

/* One thread accepts; another has each connection and closes it. */
static void *accept_all(void *arg)
{
	for (int i = 0; i < THREADS * ROUNDS; i++) {
		int fd = accept(server, NULL, NULL);
		pthread_t thread;

		if (fd < 0) {
			say("accept: %s", errno_name(errno));
			break;
		}
		pthread_create(&thread, NULL, serve_one, (void *)(long)fd);
		pthread_detach(thread);
	}
	return NULL;
}

static void *connect_often(void *arg)
{
	char out[3000], in[3000];

	for (int i = 0; i < (int)sizeof out; i++)
		out[i] = pattern(i + (long)arg);
	for (int round = 0; round < ROUNDS; round++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect_to(fd, HERE, port) || write_all(fd, out, sizeof out) != sizeof out ||
		    read_all(fd, in, sizeof in) != sizeof in || memcmp(in, out, sizeof in))
			count(&failed);
		close(fd);
	}
	return NULL;
}

static void many(void)
{
	pthread_t acceptor, threads[THREADS];

	TITLE("ten threads connect six times");
	server = listener(64);
	port = port_of(server);
	pthread_create(&acceptor, NULL, accept_all, NULL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, connect_often, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(acceptor, NULL);
	for (int i = 0; i < 500 && __atomic_load_n(&served, __ATOMIC_SEQ_CST) < THREADS * ROUNDS; i++)
		nap(10);
	say("%d served, %d failed", served, failed);
	close(server);
}

static void *wait_accept(void *arg)
{
	long got = accept(*(int *)arg, NULL, NULL);

	return (void *)(got < 0 ? -(long)errno : got);
}

static void *wait_poll(void *arg)
{
	struct pollfd one = { *(int *)arg, POLLIN, 0 };
	long got = poll(&one, 1, 5000);

	return (void *)(got == 1 ? (long)one.revents : -1);
}

static void ended(void)
{
	pthread_t one, two;
	void *got;
	int fd = listener(4);

	TITLE("a listener ends under its waiters");
	pthread_create(&one, NULL, wait_accept, &fd);
	pthread_create(&two, NULL, wait_poll, &fd);
	nap(200);
	SAY(shutdown(fd, SHUT_RDWR));
	pthread_join(one, &got);
	say("accept: %s", errno_name(-(int)(long)got));
	pthread_join(two, &got);
	say("poll: %s", events((int)(long)got));
	close(fd);
}

/* Two threads, one reads, one writes, on each end; then the other way round. */
struct mover {
	int fd;
	long size, done;
	pthread_t thread;
};

static void *read_much(void *arg)
{
	struct mover *mover = arg;
	char room[10000];
	long n;

	while (mover->done < mover->size && (n = read(mover->fd, room, sizeof room)) > 0) {
		for (long i = 0; i < n; i++)
			if (room[i] != pattern(mover->done + i)) {
				mover->size = -1;
				return NULL;
			}
		mover->done += n;
	}
	return NULL;
}

static void *write_much(void *arg)
{
	struct mover *mover = arg;
	char room[7000];
	long n;

	while (mover->done < mover->size) {
		long part = mover->size - mover->done < (long)sizeof room ? mover->size - mover->done : (long)sizeof room;

		for (long i = 0; i < part; i++)
			room[i] = pattern(mover->done + i);
		n = write(mover->fd, room, part);
		if (n <= 0)
			break;
		mover->done += n;
	}
	return NULL;
}

static void both_ways(void)
{
	struct mover movers[4];
	int fds[2];

	TITLE("both directions at once");
	pair(fds);
	for (int i = 0; i < 4; i++) {
		movers[i] = (struct mover){ .fd = fds[i & 1], .size = 2000000 };
		pthread_create(&movers[i].thread, NULL, i < 2 ? read_much : write_much, &movers[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(movers[i].thread, NULL);
		say("%ld of %ld", movers[i].done, movers[i].size);
	}
	close(fds[0]), close(fds[1]);
}

/* A copy is used while the number it came from is closed and taken again. */
static void *use_copy(void *arg)
{
	int *fds = arg;

	for (int i = 0; i < 200; i++) {
		char byte;

		if (send(fds[0], "x", 1, 0) != 1 || recv(fds[1], &byte, 1, 0) != 1)
			return (void *)1;
	}
	return NULL;
}

static void copies(void)
{
	pthread_t thread;
	void *bad;
	int fds[2];

	TITLE("copies come and go while a thread uses the connection");
	pair(fds);
	pthread_create(&thread, NULL, use_copy, fds);
	for (int i = 0; i < 200; i++) {
		int copy = MUST(dup(fds[0]));

		MUST(dup2(fds[1], copy));
		MUST(close(copy));
	}
	pthread_join(thread, &bad);
	say("failed %ld", (long)bad);
	close(fds[0]), close(fds[1]);
}

int main(void)
{
	many();
	ended();
	both_ways();
	copies();
	return 0;
}
