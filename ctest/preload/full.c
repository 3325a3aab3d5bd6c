// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A server without a descriptor to spare: accept says so, and the connection is there when there is one again.
 * rdma: 2
 * fds: 256
 * over-c: yes
 */
#include "others.h"

static int full(int spare[], int most)
{
	int count = 0;

	while (count < most && (spare[count] = dup(0)) >= 0)
		count++;
	return count;
}

int main(int argc, char **argv)
{
	int server, spare[256], count, peer;
	pid_t pid;

	self = argv[0];
	if (argc > 2)
		return echo_client(atoi(argv[2]), 1000);
	server = listener(4);
	pid = start("client", port_of(server), 0);
	MUST(readable(server, 5000) - 1);
	count = full(spare, 256);
	for (int i = 0; i < 3; i++)
		SAY_FD(accept(server, NULL, NULL));
	SAY_FD(socket(AF_INET, SOCK_STREAM, 0));
	while (count > 0)
		close(spare[--count]);
	SAY(readable(server, 1000));
	peer = SAY_FD(accept(server, NULL, NULL));
	SAY(echo(peer));
	close(peer);
	say("client %d", exit_of(pid));
	close(server);
	return 0;
}
