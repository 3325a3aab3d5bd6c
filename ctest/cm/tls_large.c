// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sanitizer: no
 * A program with 4 MB of static thread-local storage, which glibc puts into the stack of each thread, also
 * of the library's own: an rsocket is made, connected and used.
 */
#include "trace.h"
#include <pthread.h>
#include <rdma/rsocket.h>

static __thread char large[4000000];

static void *client(void *unused)
{
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);
	char c = 'x';

	large[0] = c;
	if (rconnect(fd, addr("10.77.0.1:7471"), sizeof(struct sockaddr_in)) ||
	    rsend(fd, &c, 1, 0) != 1)
		say("client: %s", errno_name(errno));
	rclose(fd);
	return unused;
}

int main(void)
{
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), peer;
	pthread_t thread;
	char c = 0;

	large[sizeof large - 1] = 1;
	if (fd < 0 || rbind(fd, addr("10.77.0.1:7471"), sizeof(struct sockaddr_in)) || rlisten(fd, 1)) {
		say("listener: %s", errno_name(errno));
		return 1;
	}
	pthread_create(&thread, NULL, client, NULL);
	peer = raccept(fd, NULL, NULL);
	say("received %d", (int)rrecv(peer, &c, 1, 0));
	say("%c", c);
	pthread_join(thread, NULL);
	rclose(peer);
	rclose(fd);
	return 0;
}
