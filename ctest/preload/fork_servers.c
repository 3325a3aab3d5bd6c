// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Servers with processes: workers that accept, a child for each connection, children that only end.
 * rdma: 6
 * limit: 60
 */
#include "others.h"

static int bound(void)
{
	int fd = MUST(socket(AF_INET, SOCK_STREAM, 0));

	MUST(bind_to(fd, HERE, 0));
	MUST(listen(fd, 16));
	return fd;
}

static void worker(int server)
{
	for (;;) {
		int fd = accept(server, NULL, NULL);

		if (fd < 0)
			_exit(1);
		echo(fd);
		close(fd);
	}
}

static void clients(int port, int count, const char *what)
{
	pid_t pids[8];
	int good = 0;

	for (int i = 0; i < count; i++)
		pids[i] = start("client", port, 0);
	for (int i = 0; i < count; i++) {
		int code = exit_of(pids[i]);

		good += code == 0;
		if (code)
			say("client: %d", code);
	}
	say("%s: %d of %d served", what, good, count);
}

static void workers(void)
{
	int server = bound(), port = port_of(server);
	pid_t pids[3];

	TITLE("three workers accept");
	for (int i = 0; i < 3; i++) {
		pids[i] = MUST(fork());
		if (pids[i] == 0)
			worker(server);
		nap(100);
	}
	close(server);
	clients(port, 1, "one client");
	clients(port, 6, "six clients");
	/* Another takes over. */
	kill(pids[0], SIGKILL);
	exit_of(pids[0]);
	nap(2500);
	clients(port, 6, "without the first worker");
	kill(pids[1], SIGTERM);
	exit_of(pids[1]);
	nap(2500);
	clients(port, 3, "with the last one");
	kill(pids[2], SIGKILL);
	exit_of(pids[2]);
}

static void child_each(int parent_reads)
{
	int server = bound(), port = port_of(server), code = 0;
	pid_t client, child;

	TITLE(parent_reads ? "a child for each connection; the parent has read from it before" : "a child for each connection");
	for (int i = 0; i < 3; i++) {
		if (!parent_reads)
			readable(server, 0);
		client = start("client", port, 0);
		int fd = MUST(accept(server, NULL, NULL));
		char first[10];
		long n = parent_reads ? recv(fd, first, sizeof first, 0) : 0;

		child = MUST(fork());
		if (child == 0) {
			close(server);
			if (n > 0)
				write_all(fd, first, n);
			echo(fd);
			_exit(0);
		}
		close(fd);
		code = exit_of(client);
		say("client %d, child %d", code, exit_of(child));
	}
	close(server);
}

/* The parent keeps the connection; children come and go. */
static void bystanders(void)
{
	int fds[2];
	pid_t child;

	TITLE("children that only end");
	pair(fds);
	for (int i = 0; i < 3; i++) {
		child = MUST(fork());
		if (child == 0) {
			if (i == 1)
				exit(0);
			if (i == 2)
				close(fds[0]), close(fds[1]);
			_Exit(0);
		}
		ping(fds[0], fds[1]);
		say("child %d", exit_of(child));
		ping(fds[0], fds[1]);
	}
	close(fds[0]);
	SAY(recv(fds[1], &(char){ 0 }, 1, 0));
	close(fds[1]);
}

/* The child has a connection of its own, beside its parent's. */
static void own_connections(void)
{
	int fds[2], mine[2];
	pid_t child;

	TITLE("a child with connections of its own");
	pair(fds);
	child = MUST(fork());
	if (child == 0) {
		pair(mine);
		ping(mine[0], mine[1]);
		close(mine[0]), close(mine[1]);
		_exit(0);
	}
	say("child %d", exit_of(child));
	ping(fds[0], fds[1]);
	close(fds[0]), close(fds[1]);
}

/* A name asked for in the child, and a peer's end that waits for the last of both. */
static void held(void)
{
	int server = listener(4), fds[2];
	struct sockaddr_in name;
	pid_t child;

	TITLE("the last holder ends the connection");
	pair_of(server, fds);
	child = MUST(fork());
	if (child == 0) {
		say("peer %s, own port %d", getpeername(fds[0], (struct sockaddr *)&name, &(socklen_t){ sizeof name }) ? "?" :
		    inet_ntoa(name.sin_addr), port_of(fds[0]) == port_of(server));
		close(fds[1]);
		nap(500);
		send(fds[0], "from the child", 14, 0);
		_exit(0);
	}
	close(fds[0]);
	char text[20] = "";
	say("%ld %s", read_all(fds[1], text, sizeof text - 1), text);
	say("child %d", exit_of(child));
	close(fds[1]), close(server);
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2)
		return echo_client(atoi(argv[2]), 50000);
	workers();
	child_each(0);
	bystanders();
	own_connections();
	held();
	child_each(1);
	return 0;
}
