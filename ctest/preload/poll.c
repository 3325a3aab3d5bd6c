// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* poll and ppoll on connections, listeners and ordinary descriptors. */
#include "common.h"

static void say_poll(const char *what, struct pollfd *set, int count, int timeout)
{
	int got;

	for (int i = 0; i < count; i++)
		set[i].revents = 0x7fff;
	errno = 0;
	got = poll(set, count, timeout);
	printf("%s: %d %s", what, got, got < 0 ? errno_name(errno) : "");
	for (int i = 0; got >= 0 && i < count; i++)
		printf(" [%s]", events(set[i].revents));
	printf("\n");
	fflush(stdout);
}

static void states(void)
{
	struct pollfd one = { -1, POLLIN | POLLOUT | POLLRDHUP, 0 };
	int fds[2], fresh = MUST(socket(AF_INET, SOCK_STREAM, 0));
	char buf[8];

	TITLE("states");
	one.fd = fresh;
	say_poll("fresh socket", &one, 1, 0);
	close(fresh);
	say_poll("closed socket", &one, 1, 0);
	one.fd = -1;
	say_poll("negative", &one, 1, 10);
	pair(fds);
	one.fd = fds[0];
	say_poll("connected", &one, 1, 0);
	MUST(send(fds[1], "abc", 3, 0));
	MUST(readable(fds[0], 5000) ? 0 : -1);
	say_poll("with data", &one, 1, 0);
	one.events = POLLIN;
	say_poll("with data, IN", &one, 1, 0);
	one.events = POLLPRI;
	say_poll("with data, PRI", &one, 1, 0);
	one.events = 0;
	say_poll("with data, nothing asked", &one, 1, 0);
	one.events = POLLRDNORM | POLLWRNORM;
	one.revents = 0;
	SAY(poll(&one, 1, 0));
	say("RDNORM %d WRNORM %d", !!(one.revents & POLLRDNORM), !!(one.revents & POLLWRNORM));
	SAY(recv(fds[0], buf, sizeof buf, 0));
	one.events = POLLIN;
	say_poll("read", &one, 1, 0);
	MUST(shutdown(fds[1], SHUT_WR));
	MUST(readable(fds[0], 5000) ? 0 : -1);
	one.events = POLLIN | POLLOUT | POLLRDHUP;
	say_poll("the peer ended its side", &one, 1, 1000);
	one.events = POLLIN | POLLOUT;
	say_poll("the same without RDHUP", &one, 1, 1000);
	one.fd = fds[1];
	say_poll("of the peer itself", &one, 1, 0);
	MUST(shutdown(fds[0], SHUT_WR));
	one.events = 0;
	say_poll("both ended, nothing asked", &one, 1, 5000);
	one.events = POLLIN | POLLOUT | POLLRDHUP;
	one.fd = fds[0];
	say_poll("both ended", &one, 1, 5000);
	close(fds[0]);
	close(fds[1]);
}

static void mixed(void)
{
	struct pollfd set[4];
	int fds[2], pipes[2], server = listener(4);
	struct dialer dialer;

	TITLE("several");
	pair(fds);
	MUST(pipe(pipes));
	set[0] = (struct pollfd){ fds[0], POLLIN, 0 };
	set[1] = (struct pollfd){ pipes[0], POLLIN, 0 };
	set[2] = (struct pollfd){ server, POLLIN, 0 };
	set[3] = (struct pollfd){ pipes[1], POLLOUT, 0 };
	say_poll("only the pipe", set, 4, 1000);
	set[3].fd = ~set[3].fd;
	say_poll("nothing", set, 4, 50);
	MUST(write(pipes[1], "x", 1));
	say_poll("the other end", set, 4, 1000);
	dial(&dialer, port_of(server));
	MUST(readable(server, 5000) ? 0 : -1);
	say_poll("a client", set, 4, 1000);
	int peer = SAY_FD(accept(server, NULL, NULL));
	int client = dialed(&dialer);
	say_poll("accepted", set, 4, 0);
	MUST(send(fds[1], "x", 1, 0));
	MUST(readable(fds[0], 5000) ? 0 : -1);
	say_poll("data", set, 4, 1000);
	close(pipes[1]);
	MUST(read(pipes[0], (char[4]){ 0 }, 4));
	say_poll("the pipe is closed", set, 4, 1000);
	set[1].fd = 1000;
	say_poll("a number without a file", set, 4, 1000);
	set[1] = set[0];
	say_poll("twice the same", set, 2, 1000);
	ping(peer, client);
	close(peer), close(client), close(server), close(fds[0]), close(fds[1]), close(pipes[0]);
}

static void times(void)
{
	struct pollfd one;
	struct later later;
	struct alarm_clock clock;
	struct timespec wait = { 0, 300000000 };
	sigset_t none, some, before;
	double start;
	int fds[2];

	TITLE("times and signals");
	pair(fds);
	one = (struct pollfd){ fds[0], POLLIN, 0 };
	start = now();
	say_poll("300 ms", &one, 1, 300);
	say("%s", in_time(start, 0.3));
	start = now();
	SAY(ppoll(&one, 1, &wait, NULL));
	say("%s, the time stays %ld", in_time(start, 0.3), wait.tv_nsec);
	do_later(&later, 200, fds[1], 's');
	start = now();
	say_poll("until data", &one, 1, -1);
	say("%s", in_time(start, 0.2));
	was_done(&later);
	MUST(recv(fds[0], (char[8]){ 0 }, 8, 0));
	handle(SIGUSR1, SA_RESTART);
	ring_after(&clock, 200, SIGUSR1);
	start = now();
	say_poll("a signal", &one, 1, 3000);
	say("%s, %d seen", in_time(start, 0.2), (int)signals_seen);
	pthread_join(clock.thread, NULL);
	/* Blocked outside, let in only by the mask of ppoll. */
	sigemptyset(&none);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &some, &before);
	raise(SIGUSR1);
	say("held back: %d seen", (int)signals_seen);
	wait = (struct timespec){ 0, 100000000 };
	SAY(ppoll(&one, 1, &wait, NULL));
	SAY(ppoll(&one, 1, &wait, &some));
	say("still held back: %d seen", (int)signals_seen);
	wait.tv_sec = 3;
	start = now();
	SAY(ppoll(&one, 1, &wait, &none));
	say("let in: %d seen, %s", (int)signals_seen, in_time(start, 0));
	pthread_sigmask(SIG_SETMASK, NULL, &none);
	say("the mask is back: %d", sigismember(&none, SIGUSR1));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	MUST(send(fds[1], "x", 1, 0));
	MUST(readable(fds[0], 5000) ? 0 : -1);
	SAY(ppoll(&one, 1, &wait, NULL));
	SAY(ppoll(&one, 1, NULL, &before));
	wait.tv_nsec = -1;
	SAY(ppoll(&one, 1, &wait, NULL));
	SAY(poll(NULL, 0, 10));
	do_later(&later, 200, fds[1], 'c');
	MUST(recv(fds[0], (char[8]){ 0 }, 8, 0));
	say_poll("until the peer closes", &one, 1, 5000);
	was_done(&later);
	SAY(recv(fds[0], (char[8]){ 0 }, 8, 0));
	close(fds[0]);
}

/* A thread closes nothing, but another polls the same socket. */
static void *second(void *arg)
{
	struct pollfd one = { *(int *)arg, POLLIN, 0 };

	return (void *)(long)poll(&one, 1, 5000);
}

static void together(void)
{
	struct pollfd one;
	pthread_t threads[4];
	void *got;
	int fds[2];

	TITLE("four threads poll one socket");
	pair(fds);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, second, &fds[0]);
	nap(100);
	one = (struct pollfd){ fds[0], POLLOUT, 0 };
	say_poll("writable meanwhile", &one, 1, 1000);
	MUST(send(fds[1], "x", 1, 0));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &got);
		say("thread: %ld", (long)got);
	}
	close(fds[0]), close(fds[1]);
}

int main(void)
{
	states();
	mixed();
	times();
	together();
	return 0;
}
