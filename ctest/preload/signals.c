// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Signals in blocking calls, with and without SA_RESTART, and time limits of a listener.
 * rdma: 6
 */
#include "common.h"

static char block[65536];

static void reading(void)
{
	struct alarm_clock clock;
	struct later later;
	double start;
	char text[8];
	int fds[2];

	TITLE("recv");
	pair(fds);
	handle(SIGUSR1, 0);
	ring_after(&clock, 200, SIGUSR1);
	start = now();
	SAY(recv(fds[0], text, 8, 0));
	say("%s, %d seen", in_time(start, 0.2), (int)signals_seen);
	pthread_join(clock.thread, NULL);
	handle(SIGUSR1, SA_RESTART);
	ring_after(&clock, 200, SIGUSR1);
	do_later(&later, 500, fds[1], 's');
	start = now();
	SAY(recv(fds[0], text, 8, 0));
	say("%s, %d seen", in_time(start, 0.5), (int)signals_seen);
	pthread_join(clock.thread, NULL);
	was_done(&later);
	/* What has come before the signal is not lost. */
	handle(SIGUSR1, 0);
	MUST(send(fds[1], "abc", 3, 0));
	ring_after(&clock, 300, SIGUSR1);
	SAY(recv(fds[0], text, 8, MSG_WAITALL));
	pthread_join(clock.thread, NULL);
	close(fds[0]), close(fds[1]);
}

static void writing(void)
{
	struct alarm_clock clock;
	int fds[2];
	long n;

	TITLE("send");
	pair(fds);
	handle(SIGUSR1, 0);
	MUST(fcntl(fds[0], F_SETFL, O_NONBLOCK));
	while (send(fds[0], block, sizeof block, 0) > 0)
		;
	while (send(fds[0], block, 1, 0) > 0)
		;
	MUST(fcntl(fds[0], F_SETFL, 0));
	ring_after(&clock, 300, SIGUSR1);
	n = send(fds[0], block, 10, 0);
	say("%ld %s", n, n < 0 ? errno_name(errno) : "");
	pthread_join(clock.thread, NULL);
	close(fds[0]), close(fds[1]);
}

static void accepting(void)
{
	struct timeval limit = { 0, 300000 };
	struct alarm_clock clock;
	struct dialer dialer;
	int server = listener(4), fd;
	double start;

	TITLE("accept");
	handle(SIGUSR1, 0);
	ring_after(&clock, 200, SIGUSR1);
	start = now();
	SAY(accept(server, NULL, NULL));
	say("%s", in_time(start, 0.2));
	pthread_join(clock.thread, NULL);
	SAY(setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	start = now();
	SAY(accept(server, NULL, NULL));
	say("%s", in_time(start, 0.3));
	limit.tv_sec = 10;
	SAY(setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	dial(&dialer, port_of(server));
	fd = SAY_FD(accept(server, NULL, NULL));
	ping(fd, dialed(&dialer));
	close(fd), close(dialer.fd);
	limit.tv_usec = 0;
	SAY(setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	close(server);
}

static void connecting(void)
{
	struct alarm_clock clock;
	int client = MUST(socket(AF_INET, SOCK_STREAM, 0));
	double start;

	TITLE("connect");
	handle(SIGUSR1, 0);
	ring_after(&clock, 200, SIGUSR1);
	start = now();
	SAY(connect_to(client, NOBODY, 9999));
	say("%s", in_time(start, 0.2));
	pthread_join(clock.thread, NULL);
	SAY(close(client));
}

int main(void)
{
	reading();
	writing();
	accepting();
	connecting();
	return 0;
}
