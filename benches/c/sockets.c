/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * rsockets between two processes: this one serves, a child connects.
 *
 *	sockets throughput SIZE COUNT    messages of SIZE bytes, one way
 *	sockets latency SIZE ROUNDS      there and back
 *	sockets wake-up N ROUNDS         one active among N: rpoll, rselect, repoll; processor time of this process
 *	sockets memory N                 resident bytes of a connected socket that does nothing
 */
#include "bench.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>

/* Of a wake-up's time limit: a library that is too slow for the rounds does fewer. */
#define ENOUGH 5.0

static int ready[2];
static pid_t child;
/* What the child's transfer took of the processor. */
static double *childs;

static struct sockaddr_in address(void)
{
	const char *text = getenv("BENCH_ADDRESS");

	return ipv4(text ? text : "10.9.0.1", 7480);
}

/* Many sockets share the machine's memory: small buffers for them. */
static int make(int small)
{
	int s = rsocket(AF_INET, SOCK_STREAM, 0), size = 16384, depth = 16, on = 1;

	MUST(s >= 0);
	MUST(!rsetsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
	if (small) {
		MUST(!rsetsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
		MUST(!rsetsockopt(s, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)));
		MUST(!rsetsockopt(s, SOL_RDMA, RDMA_SQSIZE, &depth, sizeof(depth)));
		MUST(!rsetsockopt(s, SOL_RDMA, RDMA_RQSIZE, &depth, sizeof(depth)));
	}
	return s;
}

static void transfer(ssize_t (*move)(int, void *, size_t), int s, char *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = move(s, data + done, size - done);

		MUST(n > 0);
		done += (size_t)n;
	}
}

static ssize_t move_out(int s, void *data, size_t size)
{
	return rsend(s, data, size, 0);
}

static ssize_t move_in(int s, void *data, size_t size)
{
	return rrecv(s, data, size, 0);
}

#define SEND(s, data, size) transfer(move_out, s, data, size)
#define RECEIVE(s, data, size) transfer(move_in, s, data, size)

/* Connects `count` sockets of a child, which then runs `work` with them; gives this side's. */
static int *connected(long count, int small, void (*work)(int *, long, long, char *, long), long size, long rounds)
{
	struct sockaddr_in in = address();
	int *sockets = calloc((size_t)count, sizeof(*sockets)), listener, on = 1;
	char go;

	MUST(sockets && !pipe(ready));
	child = fork();
	MUST(child >= 0);
	if (!child) {
		char *data = calloc(1, (size_t)size + 1);

		/* One after the other: the C library's accept loses connections that come faster. */
		for (long i = 0; i < count; i++) {
			MUST(read(ready[0], &go, 1) == 1);
			sockets[i] = make(small);
			MUST(!rconnect(sockets[i], (struct sockaddr *)&in, sizeof(in)));
		}
		work(sockets, count, size, data, rounds);
		for (long i = 0; i < count; i++)
			rclose(sockets[i]);
		_exit(0);
	}
	listener = make(small);
	rsetsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	MUST(!rbind(listener, (struct sockaddr *)&in, sizeof(in)));
	MUST(!rlisten(listener, 128));
	for (long i = 0; i < count; i++) {
		MUST(write(ready[1], "", 1) == 1);
		sockets[i] = raccept(listener, NULL, NULL);
		MUST(sockets[i] >= 0);
		MUST(!rsetsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
	}
	rclose(listener);
	return sockets;
}

static void finish(int *sockets, long count)
{
	int status;

	for (long i = 0; i < count; i++)
		rclose(sockets[i]);
	MUST(waitpid(child, &status, 0) == child && status == 0);
}

static void send_all(int *s, long count, long size, char *data, long rounds)
{
	double begin = 0;

	for (long i = 0; i < rounds + rounds / 10 + 1; i++) {
		/* What went before made both sides warm. */
		if (i == rounds / 10 + 1) {
			RECEIVE(s[0], data, 1);
			begin = processor();
		}
		SEND(s[0], data, (size_t)size);
	}
	*childs = processor() - begin;
	RECEIVE(s[0], data, 1);
}

static void echo(int *s, long count, long size, char *data, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		RECEIVE(s[count - 1], data, (size_t)size);
		SEND(s[count - 1], data, (size_t)size);
	}
}

static void rest(int *s, long count, long size, char *data, long rounds)
{
	RECEIVE(s[0], data, 1);
}

/* Until this side has what it wants to know and ends it. */
static void echo_for_ever(int *s, long count, long size, char *data, long rounds)
{
	echo(s, count, size, data, LONG_MAX);
}

static void throughput(long size, long rounds)
{
	char *data = calloc(1, (size_t)size);
	int *s = connected(1, 0, send_all, size, rounds);
	double begin, used, bytes = (double)size * (double)rounds;

	for (long i = 0; i < rounds / 10 + 1; i++)
		RECEIVE(s[0], data, (size_t)size);
	SEND(s[0], data, 1);
	begin = seconds(CLOCK_MONOTONIC);
	used = processor();
	for (long i = 0; i < rounds; i++)
		RECEIVE(s[0], data, (size_t)size);
	begin = seconds(CLOCK_MONOTONIC) - begin;
	used = processor() - used;
	SEND(s[0], data, 1);
	finish(s, 1);
	printf("MB/s %.3f\nmessages/s %.1f\nprocessor %.3f\n", bytes / begin / 1e6, (double)rounds / begin,
	       1e9 * (used + *childs) / bytes);
}

static void latency(long size, long rounds)
{
	char *data = calloc(1, (size_t)size);
	int *s = connected(1, 0, echo, size, rounds + 10);
	double begin = 0;

	for (long i = 0; i < rounds + 10; i++) {
		if (i == 10)
			begin = seconds(CLOCK_MONOTONIC);
		SEND(s[0], data, (size_t)size);
		RECEIVE(s[0], data, (size_t)size);
	}
	printf("round trip %.2f\n", 1e6 * (seconds(CLOCK_MONOTONIC) - begin) / (double)rounds);
	finish(s, 1);
}

static int wait_poll(struct pollfd *fds, long count)
{
	return rpoll(fds, (nfds_t)count, 5000) == 1 && fds[count - 1].revents == POLLIN;
}

static int wait_select(struct pollfd *fds, long count)
{
	struct timeval limit = { 5, 0 };
	fd_set set;
	int top = 0;

	FD_ZERO(&set);
	for (long i = 0; i < count; i++) {
		FD_SET(fds[i].fd, &set);
		top = fds[i].fd > top ? fds[i].fd : top;
	}
	return rselect(top + 1, &set, NULL, NULL, &limit) == 1 && FD_ISSET(fds[count - 1].fd, &set);
}

static int (*make_set)(int), (*control)(int, int, int, struct epoll_event *);
static int (*wait_set)(int, struct epoll_event *, int, int);
static int set_of_all = -1;

static int wait_repoll(struct pollfd *fds, long count)
{
	struct epoll_event event;

	if (set_of_all < 0) {
		MUST((set_of_all = make_set(0)) >= 0);
		for (long i = 0; i < count; i++) {
			event = (struct epoll_event){ .events = EPOLLIN, .data.fd = fds[i].fd };
			MUST(!control(set_of_all, EPOLL_CTL_ADD, fds[i].fd, &event));
		}
	}
	return wait_set(set_of_all, &event, 1, 5000) == 1 && event.data.fd == fds[count - 1].fd;
}

static void one_way(const char *name, int (*wait)(struct pollfd *, long), int *s, long count, long rounds)
{
	struct pollfd *fds = calloc((size_t)count, sizeof(*fds));
	double begin = 0, end = 0;
	char data = 0;
	long i;

	for (i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = s[i], .events = POLLIN };
	for (i = -3; i < rounds && (i < 1 || seconds(CLOCK_MONOTONIC) < end); i++) {
		if (i == 0) {
			begin = processor();
			end = seconds(CLOCK_MONOTONIC) + ENOUGH;
		}
		SEND(s[count - 1], &data, 1);
		MUST(wait(fds, count));
		RECEIVE(s[count - 1], &data, 1);
	}
	printf("%s %.2f\n", name, 1e6 * (processor() - begin) / (double)i);
	/* The wait alone: data is there, so that nobody sleeps and nothing is sent. */
	SEND(s[count - 1], &data, 1);
	MUST(wait(fds, count));
	begin = processor();
	end = seconds(CLOCK_MONOTONIC) + ENOUGH;
	for (i = 0; i < 10 * rounds && (i < 1 || seconds(CLOCK_MONOTONIC) < end); i++)
		MUST(wait(fds, count));
	printf("%s alone %.3f\n", name, 1e6 * (processor() - begin) / (double)i);
	RECEIVE(s[count - 1], &data, 1);
	fflush(stdout);
	free(fds);
}

static void wake_ups(long count, long rounds)
{
	int *s = connected(count, 1, echo_for_ever, 1, 0), top = 0;

	for (long i = 0; i < count; i++)
		top = s[i] > top ? s[i] : top;
	one_way("rpoll", wait_poll, s, count, rounds);
	/* A set of select has no room for higher ones, on any library. */
	if (top < FD_SETSIZE)
		one_way("rselect", wait_select, s, count, rounds);
	if (make_set && control && wait_set)
		one_way("repoll", wait_repoll, s, count, rounds);
	/* The end of a thousand connections is not what is measured. */
	kill(child, 9);
	_exit(0);
}

static void memory(long count)
{
	int *s = connected(1, 0, rest, 1, 1);
	long before;
	char data = 0;

	SEND(s[0], &data, 1);
	finish(s, 1);
	before = resident();
	s = connected(count, 0, rest, 1, 1);
	printf("resident %.0f\n", (double)(resident() - before) / (double)count);
	SEND(s[0], &data, 1);
	finish(s, count);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long n = argument(argc, argv, 2, 1), rounds = argument(argc, argv, 3, 100);

	childs = mmap(NULL, sizeof(*childs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(childs != MAP_FAILED);
	make_set = (int (*)(int))dlsym(RTLD_DEFAULT, "repoll_create");
	control = (int (*)(int, int, int, struct epoll_event *))dlsym(RTLD_DEFAULT, "repoll_ctl");
	wait_set = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_DEFAULT, "repoll_wait");
	if (!strcmp(mode, "throughput"))
		throughput(n, rounds);
	else if (!strcmp(mode, "latency"))
		latency(n, rounds);
	else if (!strcmp(mode, "wake-up"))
		wake_ups(n, rounds);
	else if (!strcmp(mode, "memory"))
		memory(n);
	else
		return 2;
	return 0;
}
