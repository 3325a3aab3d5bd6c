// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Other processes of a test: the same program with an argument, preloaded or not. */
#ifndef OTHERS_H
#define OTHERS_H

#include "common.h"

static char *self;

/* plain: without the preload library, whatever the test itself has. */
static inline pid_t start(const char *role, int port, int plain)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof number, "%d", port);
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		if (plain)
			unsetenv("LD_PRELOAD");
		execl(self, self, role, number, NULL);
		_exit(99);
	}
	return pid;
}

/* Sends a block, ends its side, wants all back and then the end: the exit code says what went wrong. */
static inline int echo_client(int port, long size)
{
	char *out = malloc(size), *in = malloc(size + 1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	long done = 0, sent = 0, n;

	alarm(20);
	for (long i = 0; i < size; i++)
		out[i] = pattern(i + port);
	if (fd < 0 || connect_to(fd, HERE, port))
		return 10;
	while (done < size) {
		struct pollfd one = { fd, POLLIN | (sent < size ? POLLOUT : 0), 0 };

		if (poll(&one, 1, 15000) != 1)
			return 11;
		if (one.revents & POLLIN) {
			n = recv(fd, in + done, size + 1 - done, 0);
			if (n <= 0)
				return 12;
			done += n;
		} else if (one.revents & POLLOUT) {
			n = send(fd, out + sent, size - sent < 8192 ? size - sent : 8192, MSG_NOSIGNAL);
			if (n <= 0)
				return 13;
			sent += n;
			if (sent == size && shutdown(fd, SHUT_WR))
				return 14;
		}
	}
	if (recv(fd, in, 1, 0) != 0)
		return 15;
	if (memcmp(in, out, size))
		return 16;
	close(fd);
	free(out);
	free(in);
	return 0;
}

/* Until the peer ends its side. */
static inline long echo(int fd)
{
	char room[8192];
	long total = 0, n;

	while ((n = recv(fd, room, sizeof room, 0)) > 0) {
		if (write_all(fd, room, n) != n)
			return -1;
		total += n;
	}
	return n < 0 ? -1 : total;
}

#endif
