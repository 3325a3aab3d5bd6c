// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Processes that count (RDMACM_STATS): top PART. After each step a line says what there is to look at; the next step
 * begins with a line on standard input, and the end of it ends the program.
 */
#include "trace.h"

#include <rdma/rsocket.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static char block[200000];

/* Says so, and waits for the next step. */
static void ready(const char *text)
{
	char line[16];

	say("%s %d", text, (int)getpid());
	if (!fgets(line, sizeof line, stdin))
		exit(0);
}

static void connect_to(const char *to, enum rdma_cm_event_type outcome)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = routed(ch, RDMA_PS_TCP, to);

	MUST(rdma_create_qp(id, NULL, qp_attr()));
	MUST(rdma_connect(id, param()));
	expect_and_ack(ch, outcome);
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void ids(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id[5];
	struct pair p;

	for (int i = 0; i < 5; i++)
		id[i] = new_id(ch, RDMA_PS_TCP);
	rdma_destroy_id(id[0]);
	rdma_destroy_id(id[1]);
	for (int i = 2; i < 4; i++) {
		fake("fail LISTEN errno=EACCES");
		if (!rdma_listen(id[i], 1) || errno != EACCES)
			exit(3);
	}
	pair_connect(&p);
	ready("connected");
	pair_destroy(&p);
	for (int i = 0; i < 3; i++)
		connect_to("10.77.0.1:7999", RDMA_CM_EVENT_REJECTED);
	connect_to("10.77.0.9:7471", RDMA_CM_EVENT_UNREACHABLE);
	ready("failed");
}

static int stream_to(int port)
{
	struct sockaddr_in sin = ipv4("10.77.0.1", port);
	int fd = MUST(rsocket(AF_INET, SOCK_STREAM, 0));

	return rconnect(fd, (struct sockaddr *)&sin, sizeof sin) ? rclose(fd), -1 : fd;
}

static void *dial(void *port) { return (void *)(long)stream_to((int)(long)port); }

static int listener(int port)
{
	struct sockaddr_in sin = ipv4("10.77.0.1", port);
	int fd = MUST(rsocket(AF_INET, SOCK_STREAM, 0));

	MUST(rbind(fd, (struct sockaddr *)&sin, sizeof sin));
	MUST(rlisten(fd, 8));
	return fd;
}

static void *receive_all(void *fd)
{
	for (long left = sizeof block + 3000; left > 0;)
		left -= MUST(rrecv((int)(long)fd, block, sizeof block, 0));
	return NULL;
}

static void bytes(void)
{
	int server = listener(7471), fds[2];
	pthread_t thread = background(dial, (void *)7471L);
	struct pollfd none;

	fds[0] = MUST(raccept(server, NULL, NULL));
	fds[1] = MUST((long)finish(thread));
	rclose(server);
	thread = background(receive_all, (void *)(long)fds[0]);
	for (int i = 0; i < 3; i++)
		MUST(rsend(fds[1], block, 1000, 0));
	for (size_t done = 0; done < sizeof block;)
		done += MUST(rsend(fds[1], block, sizeof block - done, 0));
	finish(thread);
	none = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	rpoll(&none, 1, 20);
	for (int i = 0; i < 2; i++)
		if (stream_to(7999) != -1 || errno != ECONNREFUSED)
			exit(3);
	ready("moved");
	rclose(fds[0]);
	rclose(fds[1]);
	ready("closed");
}

static void datagrams(void)
{
	struct sockaddr_in at = ipv4("10.77.0.1", 7471);
	int server = MUST(rsocket(AF_INET, SOCK_DGRAM, 0)), client = MUST(rsocket(AF_INET, SOCK_DGRAM, 0));

	MUST(rbind(server, (struct sockaddr *)&at, sizeof at));
	for (int i = 0; i < 4; i++) {
		MUST(rsendto(client, block, 500, 0, (struct sockaddr *)&at, sizeof at));
		MUST(rrecv(server, block, sizeof block, 0));
	}
	ready("moved");
}

/* What a child has is its own, and what it ends of the parent's counts nowhere. */
static void forks(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);
	int pipes[2], told[2];
	pid_t child;

	MUST(pipe(pipes));
	MUST(pipe(told));
	child = fork();
	if (child == 0) {
		struct rdma_event_channel *own = channel();
		struct rdma_cm_id *second = new_id(own, RDMA_PS_TCP);

		rdma_destroy_id(new_id(own, RDMA_PS_TCP));
		rdma_destroy_id(id);
		MUST(write(told[1], "", 1));
		close(pipes[1]);
		MUST(read(pipes[0], block, 1) + 1);
		rdma_destroy_id(second);
		_exit(0);
	}
	MUST(read(told[0], block, 1));
	say("child %d", (int)child);
	ready("parent");
	close(pipes[1]);
	ready(exit_of(child) ? "badly" : "well");
}

static void executes(char *self)
{
	new_id(channel(), RDMA_PS_TCP);
	ready("before");
	unsetenv("RDMACM_STATS");
	execl(self, self, "waits", NULL);
}

static void waits(void) { ready("after"); }

static void closes_all(void)
{
	struct rdma_event_channel *ch;

	MUST(syscall(SYS_close_range, 3, ~0U, 0));
	ready("closed");
	ch = channel();
	for (int i = 0; i < 3; i++)
		new_id(ch, RDMA_PS_TCP);
	ready("used");
	MUST(syscall(SYS_close_range, 3, ~0U, 0));
	/* The program's file gets the number of the library's. */
	for (int i = 0; i < 1200 && dup(0) < 1100; i++)
		;
	new_id(channel(), RDMA_PS_TCP);
	ready("again");
}

/* Sockets of a program that knows nothing of RDMA, under the preload library. */
static void *connect_socket(void *to)
{
	int fd = MUST(socket(AF_INET, SOCK_STREAM, 0));

	/* Over RDMA only a program that waits for clients has any. */
	usleep(200000);
	MUST(connect(fd, to, sizeof(struct sockaddr_in)));
	return (void *)(long)fd;
}

static void socket_pair(const char *address, int port, size_t length)
{
	struct sockaddr_in sin = ipv4(address, port);
	int server = MUST(socket(AF_INET, SOCK_STREAM, 0)), client, peer;
	pthread_t thread;

	MUST(bind(server, (struct sockaddr *)&sin, sizeof sin));
	MUST(listen(server, 8));
	thread = background(connect_socket, &sin);
	peer = MUST(accept(server, NULL, NULL));
	client = (int)(long)finish(thread);
	MUST(write(client, block, length));
	for (size_t done = 0; done < length;)
		done += MUST(read(peer, block, sizeof block));
	close(server);
}

static void sockets(void)
{
	socket_pair("10.77.0.1", 7471, 4321);
	socket_pair("127.0.0.1", 7472, 2222);
	ready("moved");
}

/* A page of a library that is not written yet: longer header and entries, counters and a kind of its own. */
static void later(void)
{
	struct {
		char magic[8];
		uint32_t version, header_size, entry_size, entries, page_size, process;
		uint64_t since, more[2];
		struct {
			char name[48];
			uint32_t kind, offset, size, reserved;
			uint64_t more;
		} entry[4];
		uint64_t words[6];
	} page = { .magic = "RDMACMST", .version = 9, .entries = 4, .process = (uint32_t)getpid(), .since = 1 };
	size_t words = offsetof(__typeof__(page), words);
	int fd = MUST(memfd_create("rdmacm-stats", MFD_CLOEXEC));

	page.header_size = offsetof(__typeof__(page), entry);
	page.entry_size = sizeof page.entry[0];
	page.page_size = sizeof page;
	for (int i = 0; i < 4; i++) {
		static const char *names[] = { "ids.now", "packets.on the moon", "shapes.round", "packets.lost" };
		static const uint32_t kinds[] = { 2, 1, 1000, 3 };

		strcpy(page.entry[i].name, names[i]);
		page.entry[i].kind = kinds[i];
		page.entry[i].offset = (uint32_t)(words + 8 * (size_t)i);
		page.entry[i].size = i == 3 ? 16 : 8;
	}
	page.words[0] = 12, page.words[1] = 34, page.words[2] = 56;
	page.words[3] = 1ULL << 32 | EPIPE, page.words[4] = 78;
	MUST(write(fd, &page, sizeof page) == sizeof page ? 0 : -1);
	ready("open to all");
	MUST(fchmod(fd, 0600));
	ready("there");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = { { "ids", ids }, { "bytes", bytes }, { "datagrams", datagrams }, { "forks", forks },
		      { "waits", waits }, { "closes", closes_all }, { "sockets", sockets }, { "later", later } };

	if (argc > 1 && !strcmp(argv[1], "executes"))
		executes(argv[0]);
	for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++) {
		if (!strcmp(argv[1], parts[i].name)) {
			parts[i].run();
			return 0;
		}
	}
	return 2;
}
