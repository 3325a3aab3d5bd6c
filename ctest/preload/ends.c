// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The end of connections: half closes, shutdown in all forms, writes after the end, SIGPIPE, lingering.
 * rdma: 16
 */
#include "common.h"

static char buf[262144];

static void half(void)
{
	int fds[2];

	TITLE("half close, and an answer after it");
	for (int side = 0; side < 2; side++) {
		pair(fds);
		int a = fds[side], b = fds[!side];

		MUST(send(a, "question", 8, 0));
		SAY(shutdown(a, SHUT_WR));
		say("%ld bytes, then %ld", read_all(b, buf, 100), (long)recv(b, buf, 1, 0));
		SAY(send(a, "x", 1, MSG_NOSIGNAL));
		SAY(shutdown(a, SHUT_WR));
		MUST(send(b, "answer", 6, 0));
		SAY(shutdown(b, SHUT_WR));
		say("%ld bytes, then %ld", read_all(a, buf, 100), (long)recv(a, buf, 1, 0));
		SAY(close(a));
		SAY(recv(b, buf, 1, 0));
		SAY(close(b));
	}
}

static void reading_side(void)
{
	int fds[2];

	TITLE("SHUT_RD");
	pair(fds);
	SAY(shutdown(fds[0], SHUT_RD));
	SAY(recv(fds[0], buf, 1, 0));
	SAY(send(fds[0], "still writes", 12, 0));
	say("%ld", read_all(fds[1], buf, 12));
	SAY(shutdown(fds[0], SHUT_RDWR));
	SAY(recv(fds[1], buf, 1, 0));
	SAY(shutdown(fds[0], 9));
	SAY(shutdown(0, SHUT_RD));
	SAY(shutdown(-1, SHUT_RD));
	close(fds[0]), close(fds[1]);

	TITLE("SHUT_RDWR");
	pair(fds);
	SAY(shutdown(fds[0], SHUT_RDWR));
	SAY(recv(fds[1], buf, 1, 0));
	SAY(recv(fds[0], buf, 1, 0));
	SAY(send(fds[0], "x", 1, MSG_NOSIGNAL));
	close(fds[0]), close(fds[1]);
}

static void unread_data(void)
{
	int fds[2];
	long sent;

	TITLE("data before the end is read first");
	pair(fds);
	sent = write_all(fds[0], buf, 30000);
	SAY(close(fds[0]));
	say("%d", read_all(fds[1], buf, sizeof buf) == sent);
	SAY(recv(fds[1], buf, 1, 0));
	SAY(recv(fds[1], buf, 1, 0));
	close(fds[1]);
}

static void broken(void)
{
	int fds[2];
	struct iovec part = { buf, 10 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	TITLE("SIGPIPE");
	handle(SIGPIPE, SA_RESTART);
	pair(fds);
	SAY(shutdown(fds[0], SHUT_WR));
	SAY(send(fds[0], "x", 1, MSG_NOSIGNAL));
	say("%d signals", (int)signals_seen);
	SAY(send(fds[0], "x", 1, 0));
	say("%d signals", (int)signals_seen);
	SAY(write(fds[0], "x", 1));
	say("%d signals", (int)signals_seen);
	SAY(writev(fds[0], &part, 1));
	say("%d signals", (int)signals_seen);
	SAY(sendmsg(fds[0], &message, 0));
	say("%d signals", (int)signals_seen);
	SAY(sendmsg(fds[0], &message, MSG_NOSIGNAL));
	SAY(sendto(fds[0], "x", 1, 0, NULL, 0));
	say("%d signals", (int)signals_seen);
	close(fds[0]), close(fds[1]);

	TITLE("the peer has closed");
	signals_seen = 0;
	pair(fds);
	close(fds[1]);
	if (!readable(fds[0], 5000))
		say("no end");
	/* The first write may still go out, to be refused; then it is EPIPE or a reset once. */
	for (int i = 0; i < 50; i++) {
		if (send(fds[0], buf, 10, MSG_NOSIGNAL) < 0 && errno == EPIPE)
			break;
		nap(20);
	}
	SAY(send(fds[0], buf, 10, MSG_NOSIGNAL));
	say("%d signals", (int)signals_seen);
	SAY(write(fds[0], buf, 10));
	say("%d signals", (int)signals_seen);
	close(fds[0]);

	TITLE("a signal without a handler ends the program");
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		pair(fds);
		shutdown(fds[0], SHUT_WR);
		write(fds[0], "x", 1);
		_exit(0);
	}
	say("exit %d", exit_of(pid));
}

static void *blocked_reader(void *arg)
{
	char byte;

	return (void *)(long)recv(*(int *)arg, &byte, 1, 0);
}

static void wakes(void)
{
	pthread_t thread;
	void *got;
	int fds[2];

	TITLE("a blocked reader");
	pair(fds);
	pthread_create(&thread, NULL, blocked_reader, &fds[0]);
	nap(200);
	SAY(shutdown(fds[1], SHUT_WR));
	pthread_join(thread, &got);
	say("the peer's end: %ld", (long)got);
	close(fds[0]), close(fds[1]);
	pair(fds);
	pthread_create(&thread, NULL, blocked_reader, &fds[0]);
	nap(200);
	SAY(shutdown(fds[0], SHUT_RDWR));
	pthread_join(thread, &got);
	say("the own end: %ld", (long)got);
	close(fds[0]), close(fds[1]);
	pair(fds);
	pthread_create(&thread, NULL, blocked_reader, &fds[0]);
	nap(200);
	SAY(close(fds[1]));
	pthread_join(thread, &got);
	say("the peer's close: %ld", (long)got);
	close(fds[0]);
}

static void lingering(void)
{
	struct linger linger = { 1, 2 };
	struct timeval limit = { 0, 300000 };
	double start;
	int fds[2];

	TITLE("lingering");
	pair(fds);
	SAY(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
	linger.l_linger = 0;
	SAY(getsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, &(socklen_t){ sizeof linger }));
	say("%d %d", linger.l_onoff, linger.l_linger);
	MUST(send(fds[0], "bye", 3, 0));
	SAY(close(fds[0]));
	say("%ld", read_all(fds[1], buf, 10));
	close(fds[1]);

	TITLE("SO_RCVTIMEO");
	pair(fds);
	SAY(setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	start = now();
	SAY(recv(fds[0], buf, 1, 0));
	say("%s", in_time(start, 0.3));
	SAY(setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
	for (long n = 1; n > 0;)
		n = send(fds[0], buf, sizeof buf, 0);
	say("full: %s", errno_name(errno));
	close(fds[0]), close(fds[1]);
}

int main(void)
{
	half();
	reading_side();
	unread_data();
	broken();
	wakes();
	lingering();
	return 0;
}
