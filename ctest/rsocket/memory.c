// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every allocation of the library fails once, each in a process of its own: a call fails with ENOMEM and succeeds
 * when it is made again, and nothing is left when all is closed. On the soft device alone.
 * device: soft
 * network: yes
 * setting: mem_default=65536
 * setting: wmem_default=65536
 * setting: sqsize_default=64
 * setting: rqsize_default=64
 * setting: inline_default=64
 * setting: iomap_size=8
 * setting: polling_time=5
 * env: RDMACM_SYNC_TIMEOUT_MS=5000
 * env: RDMACM_LOG=1
 * env: RDMACM_POOL_SIZE=0
 */
#include "check.h"
#include <stdarg.h>
#include <sys/uio.h>

static int faults;
static void wrong(const char *format, ...);

#define WRONG wrong
#include "short_memory.h"

static void wrong(const char *format, ...)
{
	va_list list;

	printf("not-ok memory, number %ld: ", number_now);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	fflush(stdout);
	/* What follows from it tells nothing. */
	if (number_now && ++faults == 3)
		_exit(1);
}

enum { PORT = 7700, MANY = 20, SIZE = 8192, OFFSET = 100 };

static char in[SIZE], out[SIZE], shared[SIZE];

/* A call that may fail once, and only for want of memory. `allowed` is what else it may say. */
static long checked(const char *what, long result, int allowed)
{
	if (result < 0 && errno != allowed)
		wrong("%s: %s", what, errno_name(errno));
	return result;
}

#define AGAIN_UNLESS(allowed, call)                                       \
	({                                                                \
		long again_ = (long)(call);                               \
		if (again_ < 0 && errno == ENOMEM)                        \
			again_ = (long)(call);                            \
		checked(#call, again_, allowed);                          \
	})
#define AGAIN(call) AGAIN_UNLESS(0, call)

static void set(int fd, int level, int name, const void *value, socklen_t size)
{
	AGAIN(rsetsockopt(fd, level, name, value, size));
}

static void set_int(int fd, int level, int name, int value)
{
	set(fd, level, name, &value, sizeof value);
}

/* A socket whose making fails half-way is closed, and another one made. */
static int whole(int fd, int result)
{
	int error = errno;

	if (result && fd >= 0)
		rclose(fd);
	errno = error;
	return result ? -1 : fd;
}

static int bound(int kind, int port)
{
	struct sockaddr_in sin = address(port);
	int fd = rsocket(AF_INET, kind, 0), one = 1, eight = 8;
	int result = fd < 0 || rsetsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);

	if (kind == SOCK_STREAM)
		result = result || rsetsockopt(fd, SOL_RDMA, RDMA_IOMAPSIZE, &eight, sizeof eight);
	result = result || rbind(fd, (struct sockaddr *)&sin, sizeof sin);
	return whole(fd, result || (kind == SOCK_STREAM && rlisten(fd, 4)));
}

static int listening(int port)
{
	return AGAIN(bound(SOCK_STREAM, port));
}

/* Without memory on either side a connection is refused, or lost on its way; a second one is made. */
static int connected(int port)
{
	struct sockaddr_in sin = address(port);

	for (int i = 0; i < 2; i++) {
		int fd = AGAIN(rsocket(AF_INET, SOCK_STREAM, 0));

		set_int(fd, SOL_RDMA, RDMA_IOMAPSIZE, 8);
		if (!rconnect(fd, (struct sockaddr *)&sin, sizeof sin))
			return fd;
		if (i || (errno != ENOMEM && errno != ECONNREFUSED && errno != ECONNRESET))
			wrong("rconnect: %s", errno_name(errno));
		rclose(fd);
	}
	return -1;
}

/* The other end of a connection, whatever came before it. */
static int accepted(int listener, int client)
{
	struct pollfd place = { listener, POLLIN, 0 };
	struct sockaddr_in own = { 0 }, peer = { 0 };
	socklen_t size = sizeof own;

	AGAIN(rgetsockname(client, (struct sockaddr *)&own, &size));
	while (AGAIN(rpoll(&place, 1, 2000)) == 1) {
		int fd;

		size = sizeof peer;
		fd = AGAIN(raccept(listener, (struct sockaddr *)&peer, &size));
		if (fd >= 0 && peer.sin_port == own.sin_port)
			return fd;
		rclose(fd);
	}
	wrong("no connection to accept");
	return -1;
}

struct pair {
	int listener, client, server;
};

static struct pair connection(void)
{
	struct pair pair = { .listener = listening(PORT) };

	pair.client = connected(PORT);
	pair.server = accepted(pair.listener, pair.client);
	return pair;
}

static void end(struct pair pair)
{
	AGAIN(rshutdown(pair.client, SHUT_WR));
	AGAIN(rclose(pair.server));
	AGAIN(rclose(pair.client));
	AGAIN(rclose(pair.listener));
}

/* All that was sent comes. */
static void passes(int from, int to, size_t size)
{
	for (size_t done = 0; done < size;) {
		long n = AGAIN(rsend(from, out + done, size - done, 0));

		if (n <= 0)
			return;
		done += n;
	}
	memset(in, 0, size);
	if (AGAIN(rrecv(to, in, size, MSG_WAITALL)) != (long)size || memcmp(in, out, size))
		wrong("other bytes came than were sent");
}

static void streams(void)
{
	struct pair pair = connection();
	struct timeval short_time = { 0, 20000 };
	struct linger linger = { 1, 1 };
	struct iovec parts[2] = { { out, 100 }, { out + 100, 200 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	char info[200];
	socklen_t size = sizeof info;

	set_int(pair.server, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	set_int(pair.server, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(pair.server, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	set(pair.server, SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof short_time);
	AGAIN(rgetsockopt(pair.client, IPPROTO_TCP, TCP_INFO, info, &size));
	/* Asleep, until the limit. */
	if (AGAIN_UNLESS(EAGAIN, rrecv(pair.server, in, 1, 0)) >= 0)
		wrong("received what nobody sent");
	passes(pair.client, pair.server, 1);
	passes(pair.server, pair.client, SIZE);
	AGAIN(rsendmsg(pair.client, &message, 0));
	AGAIN(rrecv(pair.server, in, 300, MSG_WAITALL));
	AGAIN(rwritev(pair.client, parts, 2));
	parts[0].iov_base = in;
	parts[1].iov_base = in + 100;
	AGAIN(rreadv(pair.server, parts, 2));
	end(pair);
}

/* What was sent before a close comes, and then the end. */
static void last_words(void)
{
	struct pair pair = connection();

	passes(pair.client, pair.server, 1);
	AGAIN(rsend(pair.client, out, SIZE / 2, 0));
	AGAIN(rclose(pair.client));
	if (AGAIN(rrecv(pair.server, in, SIZE, MSG_WAITALL)) != SIZE / 2 || memcmp(in, out, SIZE / 2))
		wrong("other bytes came than were sent");
	if (AGAIN(rrecv(pair.server, in, SIZE, 0)) != 0)
		wrong("no end");
	AGAIN(rclose(pair.server));
	AGAIN(rclose(pair.listener));
}

/* A socket whose connect has failed connects at last, whatever failed. */
static void second_tries(void)
{
	struct sockaddr_in sin = address(PORT);
	int fd = AGAIN(rsocket(AF_INET, SOCK_STREAM, 0)), listener, failed = 0;

	AGAIN_UNLESS(ECONNREFUSED, rconnect(fd, (struct sockaddr *)&sin, sizeof sin));
	listener = listening(PORT);
	while (failed < 3 && rconnect(fd, (struct sockaddr *)&sin, sizeof sin))
		failed++;
	if (failed > 1)
		wrong("rconnect failed %d times: %s", failed, errno_name(errno));
	AGAIN(rclose(fd));
	AGAIN(rclose(listener));
}

static void direct_writes(void)
{
	struct pair pair = connection();

	memset(shared, 0, sizeof shared);
	if (AGAIN(riomap(pair.server, shared, SIZE, PROT_WRITE, 0, OFFSET)) != OFFSET)
		wrong("riomap gave another offset");
	passes(pair.server, pair.client, 10);
	AGAIN(riowrite(pair.client, out, SIZE, OFFSET, 0));
	passes(pair.client, pair.server, 10);
	if (memcmp(shared, out, SIZE))
		wrong("riowrite wrote something else");
	AGAIN(riounmap(pair.server, shared, SIZE));
	end(pair);
}

/* The one connection among many idle sockets is found, thrice: the array is kept after the first time. */
static void polls(void)
{
	struct pair pair = connection();
	struct pollfd all[MANY + 2] = { { 0 } };
	int pipes[2];
	fd_set readable;

	if (pipe(pipes))
		wrong("no pipe");
	for (int i = 0; i < MANY; i++)
		all[i] = (struct pollfd){ listening(PORT + 1 + i), POLLIN, 0 };
	all[MANY] = (struct pollfd){ pipes[0], POLLIN, 0 };
	all[MANY + 1] = (struct pollfd){ pair.server, POLLIN, 0 };
	for (int i = 0; i < 3; i++) {
		if (AGAIN(rpoll(all, MANY + 2, 5)) != 0)
			wrong("something is ready that is not");
		AGAIN(rsend(pair.client, out, 5, 0));
		if (AGAIN(rpoll(all, MANY + 2, 1000)) != 1 || !(all[MANY + 1].revents & POLLIN))
			wrong("rpoll does not see what came");
		all[0].events ^= POLLOUT;
		AGAIN(rrecv(pair.server, in, 5, MSG_WAITALL));
	}
	FD_ZERO(&readable);
	FD_SET(pair.server, &readable);
	AGAIN(rsend(pair.client, out, 5, 0));
	if (AGAIN(rselect(pair.server + 1, &readable, NULL, NULL, NULL)) != 1)
		wrong("rselect does not see what came");
	for (int i = 0; i < MANY; i++)
		AGAIN(rclose(all[i].fd));
	close(pipes[0]);
	close(pipes[1]);
	end(pair);
}

static void sets(void)
{
	struct pair pair = connection();
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 1 }, events[4];
	int set = AGAIN(repoll_create(EPOLL_CLOEXEC)), pipes[2], idle = listening(PORT + 1);

	if (pipe(pipes))
		wrong("no pipe");
	AGAIN(repoll_ctl(set, EPOLL_CTL_ADD, idle, &event));
	AGAIN(repoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &event));
	event.data.u32 = 2;
	AGAIN(repoll_ctl(set, EPOLL_CTL_ADD, pair.server, &event));
	if (AGAIN(repoll_wait(set, events, 4, 5)) != 0)
		wrong("something is ready that is not");
	AGAIN(rsend(pair.client, out, 5, 0));
	if (AGAIN(repoll_wait(set, events, 4, 1000)) != 1 || events[0].data.u32 != 2)
		wrong("repoll_wait does not see what came");
	event.events = EPOLLIN | EPOLLET;
	AGAIN(repoll_ctl(set, EPOLL_CTL_MOD, pair.server, &event));
	if (AGAIN(repoll_wait(set, events, 4, 1000)) != 1)
		wrong("repoll_wait does not see what is there");
	AGAIN(repoll_ctl(set, EPOLL_CTL_DEL, idle, NULL));
	AGAIN(rclose(idle));
	end(pair);
	AGAIN(rclose(set));
	close(pipes[0]);
	close(pipes[1]);
}

/* A datagram may be lost, not more than one for want of memory. */
static void datagrams(void)
{
	struct sockaddr_in to = address(PORT + 1), from;
	int one = AGAIN(bound(SOCK_DGRAM, PORT)), other = AGAIN(bound(SOCK_DGRAM, PORT + 1)), lost = 0;
	struct timeval limit = { 0, 200000 };

	set(one, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	set(other, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	for (int i = 0; i < 6; i++) {
		socklen_t size = sizeof from;
		long sent;

		if (i == 3)
			AGAIN(rconnect(one, (struct sockaddr *)&to, sizeof to));
		sent = i < 3 ? AGAIN(rsendto(one, out, 1000, 0, (struct sockaddr *)&to, sizeof to)) :
			       AGAIN(rsend(one, out, 1000, 0));
		if (sent != 1000)
			continue;
		if (AGAIN_UNLESS(EAGAIN, rrecvfrom(other, in, SIZE, 0, (struct sockaddr *)&from, &size)) != 1000 ||
		    AGAIN(rsendto(other, in, 1000, 0, (struct sockaddr *)&from, size)) != 1000 ||
		    AGAIN_UNLESS(EAGAIN, rrecv(one, in, SIZE, 0)) != 1000)
			lost++;
		/* The way over the device is searched for meanwhile. */
		usleep(20000);
	}
	if (lost > 1)
		wrong("%d datagrams lost", lost);
	AGAIN(rclose(one));
	AGAIN(rclose(other));
}

static void each(const char *what, void (*run)(void), long least)
{
	long count = every(run);
	char name[80];

	snprintf(name, sizeof name, "memory: %s, all %ld allocations fail once", what, count);
	CHECK_TRUE(name, count >= least && count < MOST_ALLOCATIONS);
}

int main(void)
{
	for (int i = 0; i < SIZE; i++)
		out[i] = i * 7 + (i >> 8);
	each("streams", streams, 30);
	each("rclose after a send", last_words, 30);
	each("rconnect once more", second_tries, 30);
	each("riomap and riowrite", direct_writes, 30);
	each("rpoll and rselect", polls, 60);
	each("repoll", sets, 30);
	each("datagrams", datagrams, 10);
	return failures > 0;
}
