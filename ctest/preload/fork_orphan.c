// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A child that holds a connection whose parent has ended: the connection was the parent's, so its end comes soon, to
 * child and peer alike, and nobody hangs. A TCP connection would go on; docs/preload.md names the difference.
 * Without RS_REQUIRE_RDMA a client that comes between listen and accept is served by TCP, where the child keeps it.
 * native: no
 * env: RS_REQUIRE_RDMA=1
 * over-c: yes
 */
#include "others.h"
#include "check.h"

/* Accepts, forks, and ends: the child stays with the connection. */
static int brief_parent(int port)
{
	int server = socket(AF_INET, SOCK_STREAM, 0), on = 1, fd;
	char byte;

	alarm(20);
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind_to(server, HERE, port) || listen(server, 1))
		return 1;
	fd = accept(server, NULL, NULL);
	if (fork() == 0) {
		alarm(20);
		nap(500);
		send(fd, "x", 1, MSG_NOSIGNAL);
		while (recv(fd, &byte, 1, 0) > 0)
			;
		_exit(0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int probe, port, fd = -1;
	double begin;
	pid_t pid;
	long n;

	self = argv[0];
	if (argc > 2)
		return brief_parent(atoi(argv[2]));
	probe = listener(1);
	port = port_of(probe);
	close(probe);
	pid = start("parent", port, 0);
	for (int i = 0; i < 100; i++) {
		nap(30);
		fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
		if (connect_to(fd, HERE, port) == 0)
			break;
		close(fd);
	}
	CHECK(exit_of(pid) == 0);
	begin = now();
	while ((n = recv(fd, &(char){ 0 }, 1, 0)) > 0)
		;
	say("# %ld %s after %.1f s", n, n < 0 ? errno_name(errno) : "", now() - begin);
	CHECK(n == 0 || errno == ECONNRESET);
	CHECK(now() - begin < 15);
	close(fd);
	return failures != 0;
}
