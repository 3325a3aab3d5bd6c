// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A listener that is older than the program, as by socket activation: it is the library's from its next listen.
 * rdma: 2
 * over-c: yes
 */
#include "others.h"

/* Non-blocking, as event loops have it. */
static int serve(int server)
{
	int fd;

	alarm(20);
	fcntl(server, F_SETFL, O_NONBLOCK);
	if (listen(server, 8))
		return 1;
	if (accept(server, NULL, NULL) >= 0 || errno != EAGAIN)
		return 2;
	/* The client starts now. */
	say("serves");
	if (!readable(server, 10000) || (fd = accept4(server, NULL, NULL, 0)) < 0)
		return 3;
	return echo(fd) == 1000 ? 0 : 4;
}

int main(int argc, char **argv)
{
	int server, port, way[2];
	char byte;
	pid_t pid;

	self = argv[0];
	if (argc > 2)
		return serve(atoi(argv[2]));
	server = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(bind_to(server, HERE, 0));
	MUST(listen(server, 8));
	port = port_of(server);
	MUST(pipe(way));
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		char number[12];

		dup2(way[1], 1);
		close(way[0]), close(way[1]);
		snprintf(number, sizeof number, "%d", server);
		execl(self, self, "serve", number, NULL);
		_exit(9);
	}
	close(way[1]), close(server);
	SAY(read(way[0], &byte, 1));
	SAY(echo_client(port, 1000));
	say("server %d", exit_of(pid));
	return 0;
}
