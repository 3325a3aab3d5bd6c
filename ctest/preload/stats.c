// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* RS_STATS=1: a line for each socket on standard error, with the bytes each way over RDMA and over TCP; and nothing on
 * a descriptor 2 that is no longer standard error.
 * native: no
 * env: RS_STATS=1
 * rdma: 4
 * over-c: yes
 */
#include "check.h"

static char text[20000];

/* What a child says on standard error. */
static const char *errors_of(void (*work)(void))
{
	int pipes[2];
	long n, done = 0;
	pid_t pid;

	MUST(pipe(pipes));
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		dup2(pipes[1], 2);
		close(pipes[0]), close(pipes[1]);
		work();
		exit(0);
	}
	close(pipes[1]);
	while ((n = read(pipes[0], text + done, sizeof text - 1 - done)) > 0)
		done += n;
	text[done] = 0;
	close(pipes[0]);
	check("the child ends well", exit_of(pid) == 0);
	printf("# %s\n", text);
	return text;
}

static char block[5000];

static void connection(void)
{
	int fds[2];

	pair(fds);
	write_all(fds[1], block, 4321);
	read_all(fds[0], block, 4321);
	write_all(fds[0], block, 1234);
	read_all(fds[1], block, 1234);
	close(fds[0]), close(fds[1]);
}

static void left_open(void)
{
	int fds[2];

	pair(fds);
	write_all(fds[1], block, 3333);
	read_all(fds[0], block, 3333);
}

static void over_tcp(void)
{
	int server = MUST(socket(AF_INET, SOCK_STREAM, 0)), client = MUST(socket(AF_INET, SOCK_STREAM, 0)), peer;

	MUST(bind_to(server, "127.0.0.1", 0));
	MUST(listen(server, 1));
	MUST(connect_to(client, "127.0.0.1", port_of(server)));
	peer = MUST(accept(server, NULL, NULL));
	write_all(client, block, 2222);
	read_all(peer, block, 2222);
	close(client), close(peer), close(server);
}

/* Descriptor 2 is a connection: only the program's bytes may go through it. */
static void without_errors(void)
{
	int fds[2], more[2], code = 0;
	char room[100];

	pair(fds);
	dup2(fds[0], 2);
	close(fds[0]);
	pair(more);
	close(more[0]), close(more[1]);
	send(2, "mine", 4, 0);
	close(2);
	code = read_all(fds[1], room, sizeof room) == 4 ? 0 : 1;
	close(fds[1]);
	_exit(code);
}

int main(void)
{
	const char *said = errors_of(connection);

	CHECK(strstr(said, "4321"));
	CHECK(strstr(said, "1234"));
	CHECK(strcasestr(said, "rdma"));
	said = errors_of(left_open);
	CHECK(strstr(said, "3333"));
	said = errors_of(over_tcp);
	CHECK(strstr(said, "2222"));
	CHECK(strcasestr(said, "tcp"));
	errors_of(without_errors);
	return failures != 0;
}
