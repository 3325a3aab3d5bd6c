// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Clients that arrive at once: each is accepted and served, or refused. Nobody is told that it is connected
 * and then dropped, however slow the server accepts and however short its backlog is.
 * shared: yes
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include "check.h"

struct burst {
	const char *name;
	int processes, connects, backlog;
	int blocking;	   /* the clients connect one after another */
	int accept_pause;  /* microseconds between two accepts */
	int starts_late;   /* milliseconds before the first accept */
	int closes_after;  /* the listener closes after so many accepts; 0 for never */
	int server_stops;  /* seconds, amid the burst, while confirmations arrive */
	int client_stops;  /* seconds: the first process, while its requests are answered */
};

static const struct burst bursts[] = {
	{ .name = "100 at a backlog of 16", .processes = 1, .connects = 100, .backlog = 16 },
	{ .name = "600 at a backlog of 128", .processes = 1, .connects = 600, .backlog = 128 },
	{ .name = "2 processes, 500 each", .processes = 2, .connects = 500, .backlog = 128 },
	{ .name = "8 processes, 100 each", .processes = 8, .connects = 100, .backlog = 64 },
	{ .name = "8 processes, 40 blocking each", .processes = 8, .connects = 40, .backlog = 4, .blocking = 1 },
	{ .name = "a slow server", .processes = 2, .connects = 60, .backlog = 4, .accept_pause = 5000 },
	{ .name = "a slow server, blocking clients", .processes = 8, .connects = 12, .backlog = 1, .blocking = 1, .accept_pause = 5000 },
	{ .name = "a server that begins late", .processes = 2, .connects = 60, .backlog = 8, .starts_late = 500 },
	{ .name = "a listener that closes", .processes = 1, .connects = 60, .backlog = 8, .starts_late = 200, .closes_after = 10 },
	{ .name = "a server that stops for a while", .processes = 2, .connects = 200, .backlog = 4, .server_stops = 7 },
	{ .name = "clients that stop for a while", .processes = 2, .connects = 200, .backlog = 4, .client_stops = 4 },
};

enum { SERVED, REFUSED, RESET, WRONG, KINDS };

struct result {
	int count[KINDS], first_error;
};

/* Sends a number and reads it back. */
static int exchange(int fd, int number)
{
	int back = -1;
	long got;

	if (rsend(fd, &number, sizeof number, 0) < 0)
		return errno == ECONNRESET || errno == EPIPE ? RESET : WRONG;
	got = rrecv(fd, &back, sizeof back, MSG_WAITALL);
	if (got < 0)
		return errno == ECONNRESET ? RESET : WRONG;
	return got == sizeof back && back == number ? SERVED : WRONG;
}

static int outcome(int fd, int error, int number)
{
	if (error)
		return error == ECONNREFUSED ? REFUSED : error == ECONNRESET ? RESET : WRONG;
	return exchange(fd, number);
}

static void client(const struct burst *burst, int port, int report, int ready, int stops)
{
	struct sockaddr_in sin = address(port);
	struct result result = { 0 };
	int *fds = calloc(burst->connects, sizeof *fds), error;
	char go;

	if (read(ready, &go, 1) != 1)
		_exit(2);
	for (int i = 0; i < burst->connects; i++) {
		fds[i] = rsocket(AF_INET, SOCK_STREAM, 0);
		if (!burst->blocking)
			rfcntl(fds[i], F_SETFL, O_NONBLOCK);
		error = rconnect(fds[i], (struct sockaddr *)&sin, sizeof sin) ? errno : 0;
		if (stops && i == burst->connects / 2)
			raise(SIGSTOP);
		if (burst->blocking) {
			int kind = outcome(fds[i], error, i);

			result.count[kind]++;
			if (kind == WRONG && !result.first_error)
				result.first_error = error ? error : errno ? errno : -1;
			rclose(fds[i]);
		}
	}
	for (int i = 0; !burst->blocking && i < burst->connects; i++) {
		struct pollfd place = { fds[i], POLLOUT, 0 };
		socklen_t size = sizeof error;

		error = ETIMEDOUT;
		if (rpoll(&place, 1, 60000) == 1)
			rgetsockopt(fds[i], SOL_SOCKET, SO_ERROR, &error, &size);
		rfcntl(fds[i], F_SETFL, 0);
		int kind = outcome(fds[i], error, i);

		result.count[kind]++;
		if (kind == WRONG && !result.first_error)
			result.first_error = error ? error : errno ? errno : -1;
		rclose(fds[i]);
	}
	_exit(write(report, &result, sizeof result) != sizeof result);
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg, number;

	if (rrecv(fd, &number, sizeof number, MSG_WAITALL) == sizeof number)
		rsend(fd, &number, sizeof number, 0);
	rclose(fd);
	return NULL;
}

/* Accepts until nobody has come for a second after all clients have ended. */
static int server(const struct burst *burst, int listening, int clients_end)
{
	int accepted = 0;
	struct pollfd places[] = { { listening, POLLIN, 0 }, { clients_end, POLLIN, 0 } };

	usleep(burst->starts_late * 1000);
	for (;;) {
		pthread_t thread;

		rpoll(places, 2, 60000);
		if (places[0].revents & POLLIN) {
			int fd = raccept(listening, NULL, NULL);

			if (fd < 0)
				continue;
			accepted++;
			pthread_create(&thread, NULL, serve, (void *)(long)fd);
			pthread_detach(thread);
			if (burst->accept_pause)
				usleep(burst->accept_pause);
			if (burst->server_stops && accepted == 20)
				raise(SIGSTOP);
			if (accepted == burst->closes_after) {
				rclose(listening);
				return accepted;
			}
		} else if (places[1].revents) {
			rclose(listening);
			return accepted;
		}
	}
}

static void run(const struct burst *burst, int port)
{
	int ready[2], told[2], end[2], accepted, status;
	struct result all = { 0 }, one;
	int total = burst->processes * burst->connects;
	pid_t stopped = 0, pid;
	double start = now();
	char name[128];

	if (pipe(ready) || pipe(told) || pipe(end))
		exit(2);
	for (int i = 0; i < burst->processes; i++) {
		pid = fork();
		if (!pid) {
			close(ready[1]);
			close(end[0]);
			client(burst, port, told[1], ready[0], burst->client_stops && i == 0);
		}
		if (burst->client_stops && i == 0)
			stopped = pid;
	}
	close(end[1]);
	fflush(stdout);
	/* The server is a process of its own: what an rsocket inherits is its parent's. */
	pid = fork();
	if (!pid) {
		int fd = listener(port, burst->backlog);

		rfcntl(fd, F_SETFL, O_NONBLOCK);
		if (write(ready[1], "xxxxxxxx", burst->processes) != burst->processes)
			_exit(2);
		close(ready[1]);
		accepted = server(burst, fd, end[0]);
		usleep(200000);
		_exit(write(told[1], &(struct result){ { accepted }, -2 }, sizeof one) != sizeof one);
	}
	close(end[0]);
	if (burst->server_stops)
		stopped = pid;
	if (stopped && waitpid(stopped, &status, WUNTRACED) == stopped && WIFSTOPPED(status)) {
		sleep(burst->server_stops + burst->client_stops);
		kill(stopped, SIGCONT);
	}
	accepted = -1;
	for (int i = 0; i < burst->processes + 1; i++) {
		if (read(told[0], &one, sizeof one) != sizeof one)
			break;
		if (one.first_error == -2) {
			accepted = one.count[0];
			continue;
		}
		for (int kind = 0; kind < KINDS; kind++)
			all.count[kind] += one.count[kind];
		if (!all.first_error)
			all.first_error = one.first_error;
	}
	while (wait(&status) > 0)
		;
	close(ready[0]), close(ready[1]), close(told[0]), close(told[1]);
	printf("# %s: served %d refused %d reset %d wrong %d (%s), accepted %d, in %.1f s\n", burst->name,
	       all.count[SERVED], all.count[REFUSED], all.count[RESET], all.count[WRONG],
	       all.first_error ? errno_name(all.first_error) : "-", accepted, now() - start);
	snprintf(name, sizeof name, "burst, %s: wrong", burst->name);
	CHECK(name, all.count[WRONG], 0, 0);
	snprintf(name, sizeof name, "burst, %s: all told", burst->name);
	CHECK(name, all.count[SERVED] + all.count[REFUSED] + all.count[RESET], total, 0);
	snprintf(name, sizeof name, "burst, %s: served", burst->name);
	CHECK_TRUE(name, burst->closes_after ? all.count[SERVED] >= 1 : all.count[SERVED] == total);
	snprintf(name, sizeof name, "burst, %s: accepted", burst->name);
	CHECK(name, accepted - all.count[SERVED], 0, 0);
}

/* All, or one by its number. */
int main(int argc, char **argv)
{
	struct rlimit files;
	size_t only = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	for (size_t i = 0; i < sizeof bursts / sizeof *bursts; i++)
		if (!only || only == i + 1)
			run(&bursts[i], 7700 + (int)i);
	return finish();
}
