// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connecting and closing many times, and many idle sockets beside a busy one. */
#include "check.h"

/* What connections are made of is kept for the next ones, for two seconds at most. */
enum { IDLE_US = 2500000 };

static char buf[65536];

struct server {
	int fd, rounds;
};

static void *serve(void *arg)
{
	struct server *server = arg;

	for (int i = 0; i < server->rounds; i++) {
		int fd = raccept(server->fd, NULL, NULL);

		if (fd < 0)
			break;
		long n = rrecv(fd, buf, 1000, MSG_WAITALL);
		if (n != 1000 || rsend(fd, buf, 1000, 0) != 1000)
			printf("not-ok transfer: %ld\n", n);
		rrecv(fd, buf, 1, 0);
		rclose(fd);
	}
	return NULL;
}

static int resources(const char *kind)
{
	char command[64];
	int count = -1;

	snprintf(command, sizeof command, "rdma resource show %s 2>/dev/null | grep -c .", kind);
	FILE *file = popen(command, "r");
	if (file && fscanf(file, "%d", &count) != 1)
		count = -1;
	if (file)
		pclose(file);
	return count;
}

static void run(int port, int rounds)
{
	static char mine[1000];
	struct server server = { listener(port, 64), rounds };
	pthread_t thread;
	double start = now();

	pthread_create(&thread, NULL, serve, &server);
	for (int i = 0; i < rounds; i++) {
		int fd = dial(port);

		if (rsend(fd, mine, sizeof mine, 0) != sizeof mine ||
		    rrecv(fd, mine, sizeof mine, MSG_WAITALL) != sizeof mine)
			printf("not-ok round %d: %s\n", i, errno_name(errno));
		rclose(fd);
	}
	pthread_join(thread, NULL);
	rclose(server.fd);
	printf("# %d cycles, %.2f ms each\n", rounds, (now() - start) * 1000 / rounds);
}

static double round_trip(struct pollfd *fds, int count, int busy, int rounds)
{
	double start = 0;
	char byte = 'x';

	/* What is made once for an array does not count. */
	for (int i = -3; i < rounds; i++) {
		if (i == 0)
			start = now();
		rsend(busy, &byte, 1, 0);
		while (rpoll(fds, count, 1000) != 1)
			;
		rrecv(fds[0].fd, &byte, 1, 0);
	}
	return (now() - start) * 1e6 / rounds;
}

static double round_trip_set(int set, int in, int busy, int rounds)
{
	struct epoll_event event;
	double start = now();
	char byte = 'x';

	for (int i = 0; i < rounds; i++) {
		rsend(busy, &byte, 1, 0);
		while (repoll_wait(set, &event, 1, 1000) != 1)
			;
		rrecv(in, &byte, 1, 0);
	}
	return (now() - start) * 1e6 / rounds;
}

static void idle_sockets(int idle)
{
	int size = 16, set = -1, one[2], rounds = 300;
	struct pollfd *fds = calloc(2 * idle + 2, sizeof *fds);
	int (*pairs)[2] = calloc(idle, sizeof *pairs);
	double alone, many, alone_set = 0, many_set = 0;

	(void)size;
	pair(7400, one);
	fds[0] = (struct pollfd){ one[0], POLLIN, 0 };
	if (repoll_create) {
		struct epoll_event event = { .events = EPOLLIN };

		set = repoll_create(0);
		repoll_ctl(set, EPOLL_CTL_ADD, one[0], &event);
		alone_set = round_trip_set(set, one[0], one[1], rounds);
	}
	alone = round_trip(fds, 1, one[1], rounds);
	for (int i = 0; i < idle; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		pair(7401, pairs[i]);
		fds[1 + i] = (struct pollfd){ pairs[i][0], POLLIN, 0 };
		if (set >= 0)
			repoll_ctl(set, EPOLL_CTL_ADD, pairs[i][0], &event);
	}
	many = round_trip(fds, idle + 1, one[1], rounds);
	printf("# rpoll: 1 socket %.1f us, with %d idle ones %.1f us\n", alone, idle, many);
	if (!getenv("THEIRS"))
		CHECK_TRUE("rpoll does not mind idle sockets", many < alone * 2 + 100);
	if (set >= 0) {
		many_set = round_trip_set(set, one[0], one[1], rounds);
		printf("# repoll: 1 socket %.0f us, with %d idle ones %.0f us\n", alone_set, idle,
		       many_set);
		CHECK_TRUE("E-9 repoll does not mind idle sockets", many_set < alone_set * 1.6 + 50);
		rclose(set);
	}
	for (int i = 0; i < idle; i++) {
		rclose(pairs[i][0]);
		rclose(pairs[i][1]);
	}
	rclose(one[0]);
	rclose(one[1]);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : getenv("CYCLES") ? atoi(getenv("CYCLES")) : 200;
	int idle = getenv("IDLE") ? atoi(getenv("IDLE")) : 100;
	static const char *const kinds[] = { "qp", "cq", "mr", "pd", "cm_id" };
	int before[5], fds, kept[5];
	long memory;

	run(7410, 20);
	usleep(IDLE_US);
	fds = open_files();
	memory = resident();
	for (int i = 0; i < 5; i++)
		before[i] = resources(kinds[i]);
	run(7410, rounds);
	usleep(IDLE_US);
	CHECK("descriptors as before", open_files(), fds, 0);
	for (int i = 0; i < 5; i++) {
		kept[i] = resources(kinds[i]);
		CHECK(kinds[i], kept[i], before[i], 0);
	}
	printf("# %ld KiB more memory\n", (resident() - memory) / 1024);
	CHECK_TRUE("memory as before", resident() - memory < 512 * 1024);
	idle_sockets(idle);
	return finish();
}
