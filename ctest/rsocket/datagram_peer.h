// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The other side of datagrams, in a process of its own. */
#ifndef DATAGRAM_PEER_H
#define DATAGRAM_PEER_H

#include "check.h"

static int bound(int port)
{
	struct sockaddr_in sin = address(port);
	int fd = rsocket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || rbind(fd, (struct sockaddr *)&sin, sizeof sin)) {
		perror("bound");
		exit(2);
	}
	return fd;
}

/* A process that sends back what comes to a port; it is there when this returns. */
static pid_t echoes(int port)
{
	int ready[2];
	pid_t pid;
	char byte;

	fflush(stdout);
	if (pipe(ready))
		exit(2);
	pid = fork();
	if (pid == 0) {
		struct sockaddr_in from;
		static char in[4096];
		int fd = bound(port);

		if (write(ready[1], "x", 1) != 1)
			_exit(3);
		for (;;) {
			socklen_t size = sizeof from;
			ssize_t n = rrecvfrom(fd, in, sizeof in, 0, (struct sockaddr *)&from, &size);

			if (n > 0)
				rsendto(fd, in, n, 0, (struct sockaddr *)&from, size);
		}
	}
	if (read(ready[0], &byte, 1) != 1)
		exit(2);
	close(ready[0]), close(ready[1]);
	return pid;
}

#endif
