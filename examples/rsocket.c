/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sockets over RDMA: the calls are those of ordinary sockets with an
 * `r` before their names. What one side reads from its standard
 * input appears on the other's standard output, both ways at once.
 *
 *   rsocket server [ADDRESS [PORT]]     waits for one client
 *   rsocket client ADDRESS [PORT]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rsocket.h>

/* How long a server that is just starting is waited for. */
enum { TRIES = 50, TRY_MS = 100 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int accepted(const struct sockaddr_in *address)
{
	int listener = rsocket(AF_INET, SOCK_STREAM, 0), fd;

	if (listener < 0)
		fail("rsocket");
	if (rbind(listener, (const struct sockaddr *)address,
	          sizeof(*address)) ||
	    rlisten(listener, 1))
		fail("listening");
	fprintf(stderr, "rsocket: listening on port %u\n",
	        ntohs(address->sin_port));
	fd = raccept(listener, NULL, NULL);
	if (fd < 0)
		fail("raccept");
	rclose(listener);
	return fd;
}

static int connected(const struct sockaddr_in *address)
{
	for (int i = 0; i < TRIES; i++) {
		int fd = rsocket(AF_INET, SOCK_STREAM, 0), why;

		if (fd < 0)
			fail("rsocket");
		if (!rconnect(fd, (const struct sockaddr *)address,
		              sizeof(*address)))
			return fd;
		why = errno;
		rclose(fd);
		errno = why;
		/* Nobody listens there (yet). */
		if (errno != ECONNREFUSED)
			break;
		usleep(TRY_MS * 1000);
	}
	fail("rconnect");
	return -1;
}

/* An rsocket may take less than all, as a socket may. */
static void send_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = rsend(fd, text, length, 0);

		if (n < 0)
			fail("rsend");
		text += n;
		length -= (size_t)n;
	}
}

static void relay(int fd)
{
	/* Ordinary descriptors may stand among the rsockets. */
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	char text[4096];
	ssize_t n;

	for (;;) {
		if (rpoll(fds, 2, -1) < 0)
			fail("rpoll");
		if (fds[0].revents) {
			n = rrecv(fd, text, sizeof(text), 0);
			if (n < 0)
				fail("rrecv");
			/* The other side has said all. */
			if (n == 0)
				return;
			if (write(STDOUT_FILENO, text, (size_t)n) != n)
				fail("write");
		}
		if (fds[1].revents) {
			n = read(STDIN_FILENO, text, sizeof(text));
			if (n < 0)
				fail("read");
			if (n > 0) {
				send_all(fd, text, (size_t)n);
			} else {
				/* No more from here; what is under way still
				 * arrives. */
				rshutdown(fd, SHUT_WR);
				fds[1].fd = -1;
			}
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd, server = argc > 1 && !strcmp(argv[1], "server");

	address.sin_port = htons(7472);
	if (argc > 3)
		address.sin_port = htons((in_port_t)atoi(argv[3]));
	if (argc < (server ? 2 : 3) ||
	    (argc > 2 &&
	     inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)) {
		fprintf(stderr, "usage: rsocket server [ADDRESS [PORT]]\n"
		                "       rsocket client ADDRESS [PORT]\n");
		return 2;
	}
	fd = server ? accepted(&address) : connected(&address);
	relay(fd);
	rclose(fd);
	return 0;
}
