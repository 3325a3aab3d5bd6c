/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * rsocket connections between two processes: this one serves, a child connects. Each is connected, carries a byte
 * each way, and is closed by both sides. What is printed is the time of one, and the processor time of both sides.
 *
 *	connections one OPEN COUNT        one after the other, beside OPEN that do nothing
 *	connections crowd FLIGHT COUNT    FLIGHT at once, each replaced as soon as it has ended
 */
#include "bench.h"

#include <fcntl.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* The first ones make what a process makes once. */
enum { WARM = 4, MOST = 1024, LIMIT = 60000 };

static const int port = 7482;
/* What the child has measured. */
static struct {
	double wall, last, used;
} *childs;

/* A thousand share the guest's memory: small buffers. */
static int make(int small)
{
	int s = rsocket(AF_INET, SOCK_STREAM, 0), size = 16384, depth = 16;

	MUST(s >= 0);
	if (small) {
		MUST(!rsetsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
		MUST(!rsetsockopt(s, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)));
		MUST(!rsetsockopt(s, SOL_RDMA, RDMA_SQSIZE, &depth, sizeof(depth)));
		MUST(!rsetsockopt(s, SOL_RDMA, RDMA_RQSIZE, &depth, sizeof(depth)));
	}
	return s;
}

static int listening(int at, int small)
{
	int s = make(small), on = 1;

	rsetsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	MUST(!rbind(s, device_address(at), sizeof(struct sockaddr_in)));
	MUST(!rlisten(s, 128));
	return s;
}

/* Its processor time. */
static double serve(int listener, long count)
{
	char byte;
	double used = 0;

	for (long i = 0; i < count + WARM; i++) {
		if (i == WARM)
			used = processor();
		int s = raccept(listener, NULL, NULL);

		MUST(s >= 0);
		MUST(rrecv(s, &byte, 1, 0) == 1 && rsend(s, &byte, 1, 0) == 1);
		rclose(s);
	}
	return processor() - used;
}

static void connect_one(void)
{
	char byte = 1;
	int s = make(0);

	MUST(!rconnect(s, device_address(port), sizeof(struct sockaddr_in)));
	MUST(rsend(s, &byte, 1, 0) == 1 && rrecv(s, &byte, 1, 0) == 1);
	rclose(s);
}

static void one_by_one(long count)
{
	long tenth = count / 10;
	double begin = 0, last = 0, used = 0;

	for (long i = 0; i < count + WARM; i++) {
		if (i == WARM) {
			begin = seconds(CLOCK_MONOTONIC);
			used = processor();
		}
		if (i == count + WARM - tenth)
			last = seconds(CLOCK_MONOTONIC);
		connect_one();
	}
	childs->used = processor() - used;
	childs->wall = (seconds(CLOCK_MONOTONIC) - begin) / (double)count;
	childs->last = (seconds(CLOCK_MONOTONIC) - last) / (double)tenth;
}

static struct pollfd begin_one(void)
{
	struct pollfd one = { .fd = make(0), .events = POLLOUT };

	MUST(!rfcntl(one.fd, F_SETFL, O_NONBLOCK));
	MUST(!rconnect(one.fd, device_address(port), sizeof(struct sockaddr_in)) || errno == EINPROGRESS);
	return one;
}

/* Does what the socket is ready for; true when it has ended. */
static int advance(struct pollfd *one)
{
	char byte = 1;
	int error = 0;
	socklen_t length = sizeof(error);

	if (one->events == POLLOUT) {
		MUST(!rgetsockopt(one->fd, SOL_SOCKET, SO_ERROR, &error, &length));
		errno = error;
		MUST(!error && rsend(one->fd, &byte, 1, 0) == 1);
		one->events = POLLIN;
		return 0;
	}
	if (rrecv(one->fd, &byte, 1, 0) < 0) {
		MUST(errno == EAGAIN || errno == EWOULDBLOCK);
		return 0;
	}
	rclose(one->fd);
	return 1;
}

static void crowd(long flight, long count)
{
	static struct pollfd all[MOST];
	double begin, used;
	long begun = 0;

	for (long warm = 0; warm < WARM; warm++)
		connect_one();
	begin = seconds(CLOCK_MONOTONIC);
	used = processor();
	for (; begun < flight && begun < count; begun++)
		all[begun] = begin_one();
	for (long open = begun; open > 0;) {
		MUST(rpoll(all, (nfds_t)open, LIMIT) > 0);
		for (long i = 0; i < open; i++) {
			if (!all[i].revents || !advance(&all[i]))
				continue;
			if (begun < count) {
				all[i] = begin_one();
				begun++;
			} else {
				all[i--] = all[--open];
			}
		}
	}
	childs->used = processor() - used;
	childs->wall = childs->last = (seconds(CLOCK_MONOTONIC) - begin) / (double)count;
}

int main(int argc, char **argv)
{
	int is_crowd = argc > 1 && !strcmp(argv[1], "crowd"), status, idle, turns[2];
	long n = argument(argc, argv, 2, 0), count = argument(argc, argv, 3, 20), open = is_crowd ? 0 : n;
	double used;
	char go;
	pid_t child;

	MUST(argc > 1 && n <= MOST && !pipe(turns));
	MUST(count >= 10);
	childs = mmap(NULL, sizeof(*childs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(childs != MAP_FAILED);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* One after the other, as long as nobody counts. */
		for (long i = 0; i < open; i++) {
			int s = make(1);

			MUST(read(turns[0], &go, 1) == 1);
			MUST(!rconnect(s, device_address(port + 1), sizeof(struct sockaddr_in)));
		}
		MUST(read(turns[0], &go, 1) == 1);
		if (is_crowd)
			crowd(n, count);
		else
			one_by_one(count);
		/* The end of a thousand connections is not what is measured. */
		_exit(0);
	}
	if (open) {
		idle = listening(port + 1, 1);
		for (long i = 0; i < open; i++) {
			MUST(write(turns[1], "", 1) == 1);
			MUST(raccept(idle, NULL, NULL) >= 0);
		}
	}
	int listener = listening(port, 0);

	MUST(write(turns[1], "", 1) == 1);
	used = serve(listener, count);
	MUST(waitpid(child, &status, 0) == child && status == 0);
	printf("one %.4f\nlast tenth %.4f\nprocessor %.4f\n", 1e3 * childs->wall, 1e3 * childs->last,
	       1e3 * (used + childs->used) / (double)count);
	fflush(stdout);
	_exit(0);
}
