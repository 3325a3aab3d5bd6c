// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A call beside what other threads do with its descriptor. Beside its close, and beside the next connection's life
 * under the same number: a call has what is its own connection's, or an error. Beside forks: the parent's connection
 * goes on, and a child, which has none of the threads, waits for none of them. In a signal's handler, inside a
 * call on another connection.
 * device: soft
 * network: yes
 */
#include "check.h"
#include <signal.h>
#include <stdatomic.h>

enum { ROUNDS = 200, USERS = 2, FORKS = 60, OWN = 15, LONG = 64, FOREIGN = 0xFF };

static int port = 7600;
static atomic_int number = -1, round_now, done, calls, wrong;

static int is_told(int error)
{
	return error == EAGAIN || error == EBADF || error == ECONNRESET || error == EPIPE || error == ENOTCONN;
}

static void note(const char *call, long got, int error)
{
	if (atomic_fetch_add(&wrong, 1) < 5)
		printf("# %s: %ld %s\n", call, got, got < 0 ? errno_name(error) : "-");
}

/* All bytes of a message are the round in which it was sent: no earlier one than when the call began. */
static void receive_own(int fd)
{
	unsigned char data[LONG];
	int first = round_now;
	long got = rrecv(fd, data, sizeof data, MSG_DONTWAIT);
	int error = errno, last = round_now;

	if (got < 0 && !is_told(error))
		note("rrecv", got, error);
	for (long i = 0; i < got; i++)
		if (data[i] != FOREIGN && (data[i] < first || data[i] > last)) {
			note("rrecv: another round's", data[i], 0);
			return;
		}
}

static void *use(void *unused)
{
	unsigned char data[LONG];

	memset(data, FOREIGN, sizeof data);
	while (!done) {
		int fd = number;
		struct pollfd poll = { fd, POLLIN | POLLOUT, 0 };
		long got;

		if (fd < 0)
			continue;
		receive_own(fd);
		got = rsend(fd, data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (got < 0 ? !is_told(errno) : !got)
			note("rsend", got, errno);
		got = rpoll(&poll, 1, 0);
		if (got < 0 || got > 1)
			note("rpoll", got, errno);
		calls++;
	}
	return unused;
}

/* How many rounds had the number of the one before. */
static void closed_beside_calls(void)
{
	pthread_t users[USERS];
	int same = 0, before = -1;

	for (int i = 0; i < USERS; i++)
		pthread_create(&users[i], NULL, use, NULL);
	for (int round = 1; round <= ROUNDS; round++) {
		unsigned char data[LONG];
		int fds[2], seen;

		pair(port + round % 50, fds);
		same += fds[0] == before;
		before = fds[0];
		memset(data, round, sizeof data);
		round_now = round;
		for (int i = 0; i < 4; i++)
			if (rsend(fds[1], data, sizeof data, MSG_DONTWAIT) < 0 && errno != EAGAIN)
				note("rsend of the peer", -1, errno);
		number = fds[0];
		seen = calls;
		while (calls < seen + 8)
			sched_yield();
		/* The calls go on. */
		if (rclose(fds[0]))
			note("rclose", -1, errno);
		rclose(fds[1]);
	}
	done = 1;
	for (int i = 0; i < USERS; i++)
		pthread_join(users[i], NULL);
	printf("# %d calls, %d of %d rounds with the number of the one before\n", calls, same, ROUNDS);
	CHECK("beside a close: wrong results", wrong, 0, 0);
	CHECK_TRUE("beside a close: numbers come again", same > ROUNDS / 4);
}

static int talking[2];

static void *send_numbers(void *unused)
{
	unsigned char data[LONG];

	for (unsigned next = 0; !done; next++) {
		memset(data, (int)(next & 0x7F), sizeof data);
		if (rsend(talking[0], data, sizeof data, 0) != sizeof data)
			note("rsend", -1, errno);
	}
	rshutdown(talking[0], SHUT_WR);
	return unused;
}

static void *receive_numbers(void *unused)
{
	unsigned char data[LONG];
	long got;

	for (unsigned next = 0; (got = rrecv(talking[1], data, sizeof data, MSG_WAITALL)) > 0; next++, calls++)
		if (got != sizeof data || data[0] != (next & 0x7F) || data[LONG - 1] != (next & 0x7F))
			note("rrecv", got, errno);
	if (got)
		note("rrecv", got, errno);
	return unused;
}

static int in_the_child(int count)
{
	char data[LONG];
	struct pollfd poll = { talking[1], POLLIN, 0 };
	int good = rsend(talking[0], data, sizeof data, 0) == -1 && errno == EPERM;

	good = good && rrecv(talking[1], data, sizeof data, 0) == -1 && errno == EPERM;
	good = good && rpoll(&poll, 1, 1000) == 1 && poll.revents == POLLERR;
	rclose(talking[0]);
	if (good && count % OWN == 0) {
		int fds[2];

		/* Mostly under the number of the parent's. */
		fds[0] = rsocket(AF_INET, SOCK_STREAM, 0);
		good = rsend(fds[0], data, 1, 0) == -1 && errno == ENOTCONN;
		pair(port + count, fds);
		good = good && rsend(fds[0], "x", 1, 0) == 1 && rrecv(fds[1], data, 1, 0) == 1 && data[0] == 'x';
	}
	return good;
}

static void forked_beside_calls(void)
{
	pthread_t threads[2];
	int failed = 0, most = 0;

	done = calls = wrong = 0;
	pair(port + 60, talking);
	pthread_create(&threads[0], NULL, send_numbers, NULL);
	pthread_create(&threads[1], NULL, receive_numbers, NULL);
	port += 100;
	for (int i = 0; i < FORKS; i++) {
		int status, seen = calls;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid) {
			alarm(10);
			_exit(!in_the_child(i));
		}
		waitpid(pid, &status, 0);
		failed += status != 0;
		most = status > most ? status : most;
		while (calls < seen + 20)
			sched_yield();
	}
	done = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("# %d messages, status %#x\n", calls, (unsigned)most);
	CHECK("beside forks: failed children", failed, 0, 0);
	CHECK("beside forks: wrong results of the parent", wrong, 0, 0);
	rclose(talking[0]);
	rclose(talking[1]);
}

static int handled[2];
static atomic_int handlers;

static void on_alarm(int signal)
{
	int error = errno;
	char byte = 0;
	struct pollfd poll = { handled[1], POLLIN, 0 };

	(void)signal;
	if (rsend(handled[0], "h", 1, MSG_DONTWAIT) != 1 || rpoll(&poll, 1, 1000) != 1 ||
	    rrecv(handled[1], &byte, 1, MSG_DONTWAIT) != 1 || byte != 'h')
		wrong++;
	handlers++;
	errno = error;
}

static void in_a_handler(void)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	unsigned char data[LONG], back[LONG];
	int fds[2];
	double end;

	wrong = 0;
	pair(port + 80, fds);
	pair(port + 81, handled);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	end = now() + 20;
	for (unsigned i = 0; handlers < 300 && now() < end; i++) {
		memset(data, (int)(i & 0x7F), sizeof data);
		if (rsend(fds[0], data, sizeof data, 0) != sizeof data ||
		    rrecv(fds[1], back, sizeof back, MSG_WAITALL) != sizeof back || memcmp(data, back, sizeof data))
			note("inside a handler", -1, errno);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK_TRUE("in a handler: called", handlers >= 300);
	CHECK("in a handler: wrong results", wrong, 0, 0);
	rclose(fds[0]);
	rclose(fds[1]);
	rclose(handled[0]);
	rclose(handled[1]);
}

int main(void)
{
	closed_beside_calls();
	forked_beside_calls();
	in_a_handler();
	return finish();
}
