// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Requests that are never confirmed, more than the listener has descriptors or memory for: every honest client is
 * served, and what is registered for the others is bounded.
 * shared: yes
 */
#include "check.h"
#include <endian.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/resource.h>

enum { CLIENTS = 12 };

/* The private data of a connect. */
struct hello {
	uint8_t version, flags;
	uint16_t credits;
	uint8_t reserved[3], iomap;
	uint64_t address;
	uint32_t key, length;
	uint64_t first;
	uint32_t first_key, first_length;
} __attribute__((packed));

static const struct shortage {
	const char *name;
	int requests, backlog, descriptors;
	int buffer;		/* SO_RCVBUF of the listener, if any */
	const char *rule;	/* of the soft device, in the server */
} shortages[] = {
	{ "500 at a backlog of 511", 500, 511, 1024, 0, NULL },
	{ "few descriptors", 200, 511, 160, 0, NULL },
	{ "large buffers", 30, 511, 1024, 4 << 20, NULL },
	{ "no memory to register, for a while", 0, 64, 1024, 0, "verbs reg_mr errno=ENOMEM count=40" },
};


/* Sends requests and takes no notice of the answers, until its standard input ends. */
static void attack(const struct shortage *shortage, int port, int told, int end)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	static struct hello hello = { .version = 1 };
	struct sockaddr_in sin = address(port);
	struct rdma_conn_param param = { .private_data = &hello, .private_data_len = sizeof hello, .retry_count = 7 };
	struct rdma_cm_event *event;
	char byte = 0;

	hello.credits = htobe16(9);
	hello.length = htobe32(2);
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < shortage->requests; i++) {
		struct rdma_cm_id *id;

		if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
		    rdma_resolve_addr(id, NULL, (struct sockaddr *)&sin, 2000))
			_exit(4);
		/* Only what this id needs is taken; answers to the others are dropped as they come. */
		for (int steps = 0; steps < 2;) {
			struct pollfd poll_one = { channel->fd, POLLIN, 0 };

			if (poll(&poll_one, 1, 5000) != 1)
				_exit(5);
			if (rdma_get_cm_event(channel, &event))
				continue;
			int is_step = event->id == id;

			rdma_ack_cm_event(event);
			if (is_step && !steps++ && rdma_resolve_route(id, 2000))
				_exit(6);
		}
		if (id->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
			break;
		/* Without a queue pair the program itself would have to confirm. */
		param.qp_num = 1000 + i;
		if (rdma_connect(id, &param))
			_exit(7);
	}
	if (write(told, &byte, 1) != 1)
		_exit(8);
	while (read(end, &byte, 1) > 0)
		;
	_exit(0);
}

/* How many are served. */
static void clients(int port, int told)
{
	int served = 0;

	for (int i = 0; i < CLIENTS; i++) {
		struct sockaddr_in sin = address(port);
		struct timeval limit = { 40, 0 };
		int fd = rsocket(AF_INET, SOCK_STREAM, 0);
		char byte;

		rsetsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
		rsetsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
		served += !rconnect(fd, (struct sockaddr *)&sin, sizeof sin) && rsend(fd, "x", 1, 0) == 1 &&
			  rrecv(fd, &byte, 1, 0) == 1;
		rclose(fd);
	}
	_exit(write(told, &served, sizeof served) != sizeof served);
}

static void serve(const struct shortage *shortage, int port, int told)
{
	int (*script)(const char *) = RDMAFAKE(rdmafake_script);
	struct rlimit files = { shortage->descriptors, shortage->descriptors };
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in sin = address(port);
	char byte = 0;

	if (shortage->buffer)
		rsetsockopt(fd, SOL_SOCKET, SO_RCVBUF, &shortage->buffer, sizeof shortage->buffer);
	rsetsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (setrlimit(RLIMIT_NOFILE, &files) || rbind(fd, (struct sockaddr *)&sin, sizeof sin) ||
	    rlisten(fd, shortage->backlog))
		_exit(4);
	if (shortage->rule && script && script(shortage->rule))
		_exit(5);
	if (write(told, &byte, 1) != 1)
		_exit(6);
	for (;;) {
		int other = raccept(fd, NULL, NULL);

		if (other < 0)
			continue;
		if (rrecv(other, &byte, 1, 0) == 1)
			rsend(other, &byte, 1, 0);
		rclose(other);
	}
}

static long resident_of(pid_t pid)
{
	char path[60];
	long pages = 0, virtual;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%ld %ld", &virtual, &pages) != 2)
		return -1;
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE) >> 20;
}

static void run(const struct shortage *shortage, int port)
{
	int ready[2], end[2], result[2], served = -1;
	pid_t server, attacker, honest;
	char byte, name[100];
	double start;
	long megabytes;

	if (shortage->rule && !on_soft_device())
		return;
	if (pipe(ready) || pipe(end) || pipe(result))
		exit(2);
	fflush(stdout);
	server = fork();
	if (!server)
		serve(shortage, port, ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(2);
	attacker = fork();
	if (!attacker) {
		close(end[1]);
		attack(shortage, port, ready[1], end[0]);
	}
	if (read(ready[0], &byte, 1) != 1)
		exit(2);
	start = now();
	honest = fork();
	if (!honest)
		clients(port, result[1]);
	close(result[1]);
	if (read(result[0], &served, sizeof served) != sizeof served)
		served = -1;
	megabytes = resident_of(server);
	printf("# %s: served %d of %d in %.1f s, server %ld MB\n", shortage->name, served, CLIENTS, now() - start,
	       megabytes);
	snprintf(name, sizeof name, "R-13 unconfirmed, %s: served", shortage->name);
	CHECK(name, served, CLIENTS, 0);
	snprintf(name, sizeof name, "R-13 unconfirmed, %s: memory", shortage->name);
	CHECK_TRUE(name, megabytes < 400);
	kill(server, SIGKILL), kill(attacker, SIGKILL);
	waitpid(server, NULL, 0), waitpid(attacker, NULL, 0), waitpid(honest, NULL, 0);
	close(ready[0]), close(ready[1]), close(end[0]), close(end[1]), close(result[0]);
}

int main(void)
{
	for (size_t i = 0; i < sizeof shortages / sizeof *shortages; i++)
		run(&shortages[i], 7960 + (int)i);
	return finish();
}
