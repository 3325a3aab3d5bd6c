// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Waiting on sets: signals, masks, several waiters, changes while somebody waits, two sets with one socket. */
#include "common.h"
#include <sys/syscall.h>

static int set;

static void add(int to, int fd, unsigned bits, int data)
{
	MUST(epoll_ctl(to, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = bits, .data.u32 = data }));
}

static void signals(void)
{
	struct epoll_event got;
	struct alarm_clock clock;
	struct timespec wait = { 0, 300000000 };
	sigset_t none, some;
	double start;
	int fds[2];

	TITLE("signals");
	pair(fds);
	add(set, fds[0], EPOLLIN, 1);
	handle(SIGUSR1, SA_RESTART);
	ring_after(&clock, 200, SIGUSR1);
	start = now();
	SAY(epoll_wait(set, &got, 1, 3000));
	say("%s, %d seen", in_time(start, 0.2), (int)signals_seen);
	pthread_join(clock.thread, NULL);
	sigemptyset(&none);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &some, NULL);
	raise(SIGUSR1);
	SAY(epoll_pwait(set, &got, 1, 100, NULL));
	SAY(epoll_pwait(set, &got, 1, 100, &some));
	say("held back: %d seen", (int)signals_seen);
	SAY(epoll_pwait(set, &got, 1, 3000, &none));
	say("let in: %d seen", (int)signals_seen);
	raise(SIGUSR1);
	start = now();
	SAY(epoll_pwait2(set, &got, 1, &wait, &some));
	say("%s", in_time(start, 0.3));
	wait.tv_sec = 3;
	SAY(epoll_pwait2(set, &got, 1, &wait, &none));
	say("let in: %d seen", (int)signals_seen);
	pthread_sigmask(SIG_UNBLOCK, &some, NULL);
	MUST(send(fds[1], "x", 1, 0));
	SAY(epoll_pwait2(set, &got, 1, NULL, NULL));
	SAY(epoll_pwait(set, &got, 1, -1, &some));
	close(fds[0]), close(fds[1]);
}

struct waiter {
	pthread_t thread;
	int set, timeout, got;
	unsigned data;
};

static void *wait_run(void *arg)
{
	struct waiter *waiter = arg;
	struct epoll_event got = { 0 };

	waiter->got = epoll_wait(waiter->set, &got, 1, waiter->timeout);
	waiter->data = got.data.u32;
	return NULL;
}

static void start_waiter(struct waiter *waiter, int timeout)
{
	*waiter = (struct waiter){ .set = set, .timeout = timeout };
	MUST(-pthread_create(&waiter->thread, NULL, wait_run, waiter));
}

/* While a thread sleeps in the set, another changes what is in it. */
static void changes(void)
{
	struct waiter waiter;
	struct dialer dialer;
	int fds[2], server, client, peer;

	TITLE("changes under a waiter");
	start_waiter(&waiter, 5000);
	nap(100);
	pair(fds);
	add(set, fds[0], EPOLLIN, 1);
	MUST(send(fds[1], "x", 1, 0));
	pthread_join(waiter.thread, NULL);
	say("added: %d, data %u", waiter.got, waiter.data);
	MUST(recv(fds[0], &peer, 1, 0));
	start_waiter(&waiter, 5000);
	nap(100);
	MUST(epoll_ctl(set, EPOLL_CTL_MOD, fds[0], &(struct epoll_event){ .events = EPOLLOUT, .data.u32 = 2 }));
	pthread_join(waiter.thread, NULL);
	say("changed: %d, data %u", waiter.got, waiter.data);
	MUST(epoll_ctl(set, EPOLL_CTL_DEL, fds[0], NULL));
	start_waiter(&waiter, 300);
	nap(50);
	MUST(send(fds[1], "x", 1, 0));
	pthread_join(waiter.thread, NULL);
	say("removed: %d", waiter.got);
	close(fds[0]), close(fds[1]);

	server = listener(4);
	MUST(fcntl(server, F_SETFL, O_NONBLOCK));
	add(set, server, EPOLLIN | EPOLLET, 3);
	start_waiter(&waiter, 5000);
	nap(100);
	dial(&dialer, port_of(server));
	pthread_join(waiter.thread, NULL);
	say("a client: %d, data %u", waiter.got, waiter.data);
	peer = SAY_FD(accept(server, NULL, NULL));
	client = dialed(&dialer);
	close(peer), close(client);

	/* A connect that begins while the waiter already sleeps. */
	client = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	add(set, client, EPOLLOUT | EPOLLET, 4);
	SAY(epoll_wait(set, &(struct epoll_event){ 0 }, 1, 0));
	MUST(epoll_ctl(set, EPOLL_CTL_DEL, server, NULL));
	start_waiter(&waiter, 5000);
	nap(100);
	SAY(connect_to(client, HERE, port_of(server)));
	if (!readable(server, 5000))
		say("no client");
	peer = SAY_FD(accept(server, NULL, NULL));
	pthread_join(waiter.thread, NULL);
	say("connected: %d, data %u", waiter.got, waiter.data);
	ping(client, peer);
	close(server), close(client), close(peer);
}

static void several(void)
{
	struct waiter waiters[4];
	int fds[2], total = 0, second = MUST(epoll_create1(0));
	struct epoll_event got;

	TITLE("four waiters, one-shot: one of them");
	pair(fds);
	add(set, fds[0], EPOLLIN | EPOLLONESHOT, 1);
	for (int i = 0; i < 4; i++)
		start_waiter(&waiters[i], 700);
	nap(100);
	MUST(send(fds[1], "x", 1, 0));
	for (int i = 0; i < 4; i++) {
		pthread_join(waiters[i].thread, NULL);
		total += waiters[i].got;
	}
	say("told %d times", total);
	TITLE("two sets");
	add(second, fds[0], EPOLLIN, 2);
	MUST(epoll_ctl(set, EPOLL_CTL_MOD, fds[0], &(struct epoll_event){ .events = EPOLLIN, .data.u32 = 3 }));
	SAY(epoll_wait(set, &got, 1, 1000));
	say("data %u", got.data.u32);
	SAY(epoll_wait(second, &got, 1, 1000));
	say("data %u", got.data.u32);
	MUST(recv(fds[0], &total, 1, 0));
	SAY(epoll_wait(set, &got, 1, 0));
	SAY(epoll_wait(second, &got, 1, 0));
	close(fds[0]), close(fds[1]), close(second);
}

/* Many members: every one is told once, with small batches. */
static void many(void)
{
	enum { COUNT = 20 };
	int server = listener(COUNT), fds[COUNT][2], seen[COUNT] = { 0 }, told = 0;
	struct epoll_event got[3];

	TITLE("twenty connections, three at a time");
	for (int i = 0; i < COUNT; i++) {
		pair_of(server, fds[i]);
		add(set, fds[i][0], EPOLLIN, i);
	}
	for (int i = 0; i < COUNT; i++)
		MUST(send(fds[i][1], "x", 1, 0));
	for (int turn = 0; turn < 200 && told < COUNT; turn++) {
		int n = MUST(epoll_wait(set, got, 3, 1000));

		if (n > 3)
			say("%d events", n);
		for (int i = 0; i < n; i++) {
			char byte;

			MUST(recv(fds[got[i].data.u32][0], &byte, 1, 0));
			told += !seen[got[i].data.u32]++;
		}
	}
	say("%d told", told);
	SAY(epoll_wait(set, got, 3, 50));
	for (int i = 0; i < COUNT; i++)
		close(fds[i][0]), close(fds[i][1]);
	close(server);
	SAY(epoll_wait(set, got, 3, 50));
}

/* Level-triggered members take turns, so that none starves. */
static void fair(void)
{
	int server = listener(4), fds[4][2], seen[4] = { 0 };
	struct epoll_event got;

	TITLE("one event at a time, four always ready");
	for (int i = 0; i < 4; i++) {
		pair_of(server, fds[i]);
		add(set, fds[i][0], EPOLLIN, i);
		MUST(send(fds[i][1], "x", 1, 0));
		if (!readable(fds[i][0], 5000))
			say("nothing came");
	}
	for (int i = 0; i < 16; i++) {
		MUST(epoll_wait(set, &got, 1, 1000));
		seen[got.data.u32 & 3]++;
	}
	say("every one was told: %d", seen[0] && seen[1] && seen[2] && seen[3]);
	for (int i = 0; i < 4; i++)
		close(fds[i][0]), close(fds[i][1]);
	close(server);
}

int main(void)
{
	set = MUST(epoll_create1(EPOLL_CLOEXEC));
	signals();
	changes();
	several();
	many();
	fair();
	close(set);
	return 0;
}
