// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Datagrams between two processes: none is lost where there is room, each is answered soon, and what a killed or
 * restarted peer brings is as with UDP. R-32: on RoCE the C library's never worked.
 * shared: yes
 * network: yes
 */
#include "datagram_peer.h"
#include "device.h"

enum { ROUNDS = 1000, BURST = 40 };

static char in[4096], out[4096];

/* One on its way, and never sent again: the number of those that came back. */
static int one_by_one(int fd, int rounds, size_t size, double *longest)
{
	int back = 0;

	*longest = 0;
	for (int i = 0; i < rounds; i++) {
		double start = now();

		memcpy(out, &i, sizeof i);
		if (rsend(fd, out, size, 0) != (ssize_t)size || rrecv(fd, in, sizeof in, 0) != (ssize_t)size)
			break;
		back += !memcmp(in, out, size);
		if (now() - start > *longest)
			*longest = now() - start;
	}
	return back;
}

int main(void)
{
	static const size_t sizes[] = { 4, 64, 1000, 1500 };
	struct sockaddr_in sin = address(8001);
	struct timeval limit = { 3, 0 };
	double longest, start;
	int fd, got;
	char name[60];
	pid_t pid;

	if (getenv("THEIRS"))
		return 0;
	long before = over_device();
	pid = echoes(8001);
	fd = rsocket(AF_INET, SOCK_DGRAM, 0);
	rsetsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	CHECK("R-32 rconnect", rconnect(fd, (struct sockaddr *)&sin, sizeof sin), 0, 0);
	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		start = now();
		snprintf(name, sizeof name, "R-32 %zu bytes, one by one", sizes[i]);
		CHECK(name, one_by_one(fd, ROUNDS, sizes[i], &longest), ROUNDS, 0);
		printf("# %zu bytes: %.1f us each, longest %.1f ms\n", sizes[i], (now() - start) * 1e6 / ROUNDS, longest * 1e3);
	}
	/* All but the first, which tell the queue pair. */
	CHECK_TRUE("R-32 over the device", over_device() - before > 3 * ROUNDS);
	/* Fewer than a queue has places. */
	got = 0;
	for (int i = 0; i < BURST; i++)
		rsend(fd, out, 64, 0);
	while (got < BURST && rrecv(fd, in, sizeof in, 0) == 64)
		got++;
	CHECK("R-32 a burst", got, BURST, 0);
	/* A dead peer says nothing, or that nobody is there; a call ends by its limit, and sends go on. */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	start = now();
	for (int i = 0; i < 3; i++)
		got = rsend(fd, out, 64, 0);
	CHECK_TRUE("R-36 a killed peer: rsend", got == 64 || (got < 0 && errno == ECONNREFUSED));
	got = rrecv(fd, in, sizeof in, 0);
	CHECK_TRUE("R-36 a killed peer: rrecv", got < 0 && (errno == EAGAIN || errno == ECONNREFUSED));
	CHECK_TRUE("R-36 a killed peer: in time", now() - start < 5);
	/* Another at its place has another queue pair: found when the old one was silent for ten seconds. */
	pid = echoes(8001);
	start = now();
	limit.tv_sec = 0, limit.tv_usec = 100000;
	rsetsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	do {
		rsend(fd, out, 64, 0);
		got = rrecv(fd, in, sizeof in, 0);
	} while (got != 64 && now() - start < 20);
	printf("# a restarted peer answers after %.1f s\n", now() - start);
	CHECK("R-36 a restarted peer answers", got, 64, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	start = now();
	CHECK("rclose", rclose(fd), 0, 0);
	CHECK_TRUE("rclose: in time", now() - start < 2);
	return finish();
}
