// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A fork while a connection is being made: the child has no part in it, and must not make one of its own on the same
 * socket; the parent's is made all the same, once.
 * rdma: 2
 * fake: delay CONNECT_REQUEST ms=600
 */
#include "common.h"

static void *accept_one(void *server)
{
	return (void *)MUST(accept((int)(long)server, NULL, NULL));
}

int main(void)
{
	int server = listener(4), client = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)), error, peer;
	struct pollfd one = { client, POLLOUT, 0 };
	pthread_t thread;
	void *accepted;
	pid_t pid;

	SAY(connect_to(client, HERE, port_of(server)));
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		alarm(10);
		poll(&one, 1, 100);
		getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
		_exit(0);
	}
	say("child %d", exit_of(pid));
	MUST(-pthread_create(&thread, NULL, accept_one, (void *)(long)server));
	SAY(poll(&one, 1, 5000));
	say("[%s]", events(one.revents));
	pthread_join(thread, &accepted);
	peer = (int)(long)accepted;
	MUST(fcntl(client, F_SETFL, 0));
	ping(client, peer);
	SAY(readable(server, 300));
	close(client), close(peer), close(server);
	return 0;
}
