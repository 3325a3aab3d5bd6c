// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sets that are shared or looked at from outside: what one waiter leaves, others get; a set in a set from before its
 * first connection; removed and added again; sockets and pipes take turns. */
#include "common.h"

static int set;

static void add_to(int to, int fd, unsigned bits, int data)
{
	MUST(epoll_ctl(to, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = bits, .data.u32 = data }));
}

static int change(int op, int fd, unsigned bits, int data)
{
	return epoll_ctl(set, op, fd, &(struct epoll_event){ .events = bits, .data.u32 = data });
}

static void send_to(const int fds[2])
{
	MUST(send(fds[1], "x", 1, 0));
	if (!readable(fds[0], 5000))
		say("nothing came");
}

struct waiter {
	pthread_t thread;
	int got;
	unsigned data;
};

static void *wait_run(void *arg)
{
	struct waiter *waiter = arg;
	struct epoll_event got = { 0 };

	waiter->got = epoll_wait(set, &got, 1, 5000);
	waiter->data = got.data.u32;
	return NULL;
}

/* Each takes one event and does not come back: what it leaves is for the others, who sleep already. */
static void left_by_one(void)
{
	struct waiter waiters[3] = { 0 };
	int fds[3][2], seen = 0;
	double start;

	TITLE("three waiters, three connections, one event each");
	for (int i = 0; i < 3; i++) {
		pair(fds[i]);
		add_to(set, fds[i][0], EPOLLIN | EPOLLET, i);
	}
	for (int i = 0; i < 3; i++)
		MUST(-pthread_create(&waiters[i].thread, NULL, wait_run, &waiters[i]));
	nap(100);
	start = now();
	for (int i = 0; i < 3; i++)
		MUST(send(fds[i][1], "x", 1, 0));
	for (int i = 0; i < 3; i++) {
		pthread_join(waiters[i].thread, NULL);
		seen |= waiters[i].got == 1 ? 1 << waiters[i].data : 0;
	}
	say("told: %x, %s", seen, in_time(start, 0));
	for (int i = 0; i < 3; i++)
		close(fds[i][0]), close(fds[i][1]);
}

/* A level-triggered event that its first reader leaves unread is another's, who sleeps. */
static void unread(void)
{
	struct waiter waiters[2] = { 0 };
	int fds[2];
	double start;

	TITLE("left unread by the first of two");
	pair(fds);
	add_to(set, fds[0], EPOLLIN, 7);
	for (int i = 0; i < 2; i++)
		MUST(-pthread_create(&waiters[i].thread, NULL, wait_run, &waiters[i]));
	nap(100);
	start = now();
	MUST(send(fds[1], "x", 1, 0));
	for (int i = 0; i < 2; i++) {
		pthread_join(waiters[i].thread, NULL);
		say("%d, data %u", waiters[i].got, waiters[i].data);
	}
	say("%s", in_time(start, 0));
	close(fds[0]), close(fds[1]);
}

/* Nothing says to the inner set that it is waited for from outside: that was arranged before. */
static void nested_before(void)
{
	int outer = MUST(epoll_create1(EPOLL_CLOEXEC)), inner = MUST(epoll_create1(EPOLL_CLOEXEC)), fds[2];
	struct epoll_event got;
	char byte;

	TITLE("in another set before its first connection");
	add_to(outer, inner, EPOLLIN, 9);
	pair(fds);
	add_to(inner, fds[0], EPOLLIN, 1);
	SAY(epoll_wait(inner, &got, 1, 0));
	SAY(epoll_wait(outer, &got, 1, 50));
	MUST(send(fds[1], "x", 1, 0));
	SAY(epoll_wait(outer, &got, 1, 5000));
	SAY(epoll_wait(inner, &got, 1, 5000));
	SAY(epoll_wait(outer, &got, 1, 5000));
	MUST(recv(fds[0], &byte, 1, 0));
	SAY(epoll_wait(inner, &got, 1, 0));
	SAY(epoll_wait(outer, &got, 1, 50));
	MUST(epoll_ctl(inner, EPOLL_CTL_MOD, fds[0], &(struct epoll_event){ .events = EPOLLOUT }));
	SAY(epoll_wait(outer, &got, 1, 5000));
	close(fds[0]), close(fds[1]), close(inner), close(outer);
}

/* Told, left unread, and then polled for the first time, or added to another set. */
static void looked_at_later(void)
{
	int outer = MUST(epoll_create1(EPOLL_CLOEXEC)), fds[2];
	struct epoll_event got;
	struct pollfd one = { set, POLLIN, 0 };
	struct timeval none = { 0, 0 };
	fd_set bits;

	TITLE("told, and looked at from outside afterwards");
	pair(fds);
	add_to(set, fds[0], EPOLLIN, 1);
	send_to(fds);
	SAY(epoll_wait(set, &got, 1, 5000));
	SAY(poll(&one, 1, 0));
	SAY(epoll_wait(set, &got, 1, 0));
	FD_ZERO(&bits);
	FD_SET(set, &bits);
	SAY(select(set + 1, &bits, NULL, NULL, &none));
	add_to(outer, set, EPOLLIN, 9);
	SAY(epoll_wait(outer, &got, 1, 5000));
	close(outer), close(fds[0]), close(fds[1]);
}

/* Many programs remove a descriptor and add it again, to change what they want. */
static void back_again(void)
{
	int fds[2], second = MUST(epoll_create1(EPOLL_CLOEXEC)), number;
	struct epoll_event got;
	char byte;

	TITLE("removed and added again");
	pair(fds);
	add_to(set, fds[0], EPOLLIN, 1);
	SAY(epoll_wait(set, &got, 1, 50));
	SAY(change(EPOLL_CTL_DEL, fds[0], 0, 0));
	SAY(change(EPOLL_CTL_DEL, fds[0], 0, 0));
	SAY(change(EPOLL_CTL_MOD, fds[0], EPOLLIN, 1));
	send_to(fds);
	SAY(epoll_wait(set, &got, 1, 100));
	for (int i = 0; i < 3; i++) {
		MUST(change(EPOLL_CTL_ADD, fds[0], EPOLLOUT, 2));
		SAY(change(EPOLL_CTL_ADD, fds[0], EPOLLOUT, 2));
		SAY(epoll_wait(set, &got, 1, 1000));
		MUST(change(EPOLL_CTL_DEL, fds[0], 0, 0));
		MUST(change(EPOLL_CTL_ADD, fds[0], EPOLLIN, 3));
		SAY(epoll_wait(set, &got, 1, 1000));
		say("data %u", got.data.u32);
		MUST(recv(fds[0], &byte, 1, 0));
		SAY(epoll_wait(set, &got, 1, 50));
		MUST(change(EPOLL_CTL_DEL, fds[0], 0, 0));
		send_to(fds);
	}
	/* It goes to another set, whose waiters it is for now. */
	add_to(second, fds[0], EPOLLIN, 4);
	SAY(epoll_wait(second, &got, 1, 1000));
	SAY(epoll_wait(set, &got, 1, 50));
	/* And its number to another connection. */
	number = fds[0];
	MUST(dup2(set, number));
	close(fds[1]);
	pair(fds);
	MUST(dup2(fds[0], number));
	close(fds[0]);
	fds[0] = number;
	add_to(set, fds[0], EPOLLIN, 5);
	SAY(epoll_wait(set, &got, 1, 50));
	send_to(fds);
	SAY(epoll_wait(set, &got, 1, 1000));
	say("data %u", got.data.u32);
	close(fds[0]), close(fds[1]), close(second);
}

static void turns(void)
{
	int fds[2], pipes[2], seen[2] = { 0 };
	struct epoll_event got;

	TITLE("a connection and a pipe, always ready, one event at a time");
	pair(fds);
	MUST(pipe(pipes));
	add_to(set, fds[0], EPOLLIN, 0);
	add_to(set, pipes[0], EPOLLIN, 1);
	send_to(fds);
	MUST(write(pipes[1], "x", 1));
	for (int i = 0; i < 20; i++) {
		MUST(epoll_wait(set, &got, 1, 1000));
		seen[got.data.u32 & 1]++;
	}
	say("both were told: %d", seen[0] > 2 && seen[1] > 2);
	close(fds[0]), close(fds[1]), close(pipes[0]), close(pipes[1]);
}

int main(void)
{
	set = MUST(epoll_create1(EPOLL_CLOEXEC));
	left_by_one();
	unread();
	nested_before();
	looked_at_later();
	back_again();
	turns();
	close(set);
	return 0;
}
