// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* rpoll of long arrays, which it keeps between calls: every answer is what a fresh look would give. */
#include "check.h"

#define PAIRS 40

static int pairs[PAIRS][2], pipes[2];
static struct pollfd fds[PAIRS + 1];
static char buf[64];

static void fill(void)
{
	for (int i = 0; i < PAIRS; i++)
		fds[i] = (struct pollfd){ pairs[i][0], POLLIN, 0 };
	fds[PAIRS] = (struct pollfd){ pipes[0], POLLIN, 0 };
}

static int wrong(unsigned long want)
{
	int count = 0;

	for (int i = 0; i <= PAIRS; i++) {
		int is = !!(fds[i].revents & POLLIN);

		count += is != !!(want & 1UL << i) || (fds[i].revents & ~POLLIN);
	}
	return count;
}

/* Random sockets get a byte; what rpoll says is compared, before and after they were read. */
static void random_rounds(int rounds)
{
	int bad = 0, bad_count = 0, left = 0;

	srandom(5);
	for (int round = 0; round < rounds; round++) {
		unsigned long want = 0;

		for (int i = random() % 4; i >= 0; i--)
			want |= 1UL << random() % (PAIRS + 1);
		for (int i = 0; i < PAIRS; i++)
			if (want & 1UL << i)
				rsend(pairs[i][1], "x", 1, 0);
		if ((want & 1UL << PAIRS) && write(pipes[1], "x", 1) != 1)
			exit(2);
		int count = 0;
		/* All are there after a while; until then some of them. */
		for (int tries = 0; tries < 1000 && count != __builtin_popcountl(want); tries++)
			count = rpoll(fds, PAIRS + 1, tries ? 1 : 2000);
		bad_count += count != __builtin_popcountl(want);
		bad += wrong(want) != 0;
		for (int i = 0; i < PAIRS; i++)
			if (fds[i].revents)
				rrecv(fds[i].fd, buf, 1, 0);
		if (fds[PAIRS].revents && read(pipes[0], buf, 1) != 1)
			exit(2);
		left += rpoll(fds, PAIRS + 1, 0) != 0 || wrong(0);
	}
	CHECK("counts", bad_count, 0, 0);
	CHECK("events", bad, 0, 0);
	CHECK("nothing left", left, 0, 0);
}

static void *later(void *arg)
{
	usleep(200000);
	if (*(int *)arg < 0)
		rclose(pairs[3][0]);
	else
		rsend(*(int *)arg, "x", 1, 0);
	return NULL;
}

static void *close_slowly(void *fd)
{
	struct linger linger = { 1, 3 };

	rsetsockopt(*(int *)fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	rclose(*(int *)fd);
	return NULL;
}

/* Calls that begin while another thread closes the socket. Its peer does not read, so that this lasts. */
static void while_it_closes(void)
{
	int set = repoll_create(0), fd = pairs[6][0];
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd one = { fd, POLLIN, 0 };
	struct timeval limit = { 2, 0 };
	pthread_t thread;
	fd_set bits;

	while (rsend(fd, buf, 1, MSG_DONTWAIT) > 0)
		;
	CHECK("R-37 before it closes", rpoll(fds, PAIRS, 0), 0, 0);
	CHECK("R-37 before it closes, again", rpoll(fds, PAIRS, 0), 0, 0);
	double start = now();
	pthread_create(&thread, NULL, close_slowly, &fd);
	usleep(200000);
	CHECK("R-37 while it closes: rrecv", rrecv(fd, buf, 1, MSG_DONTWAIT), -1, EBADF);
	CHECK("R-37 while it closes: rpoll", rpoll(&one, 1, 2000), 1, 0);
	CHECK("R-37 while it closes: rpoll", one.revents, POLLNVAL, 0);
	for (int i = 0; i < 3; i++) {
		CHECK("R-37 while it closes: rpoll of many", rpoll(fds, PAIRS, 2000), 1, 0);
		CHECK("R-37 while it closes: rpoll of many", fds[6].revents, POLLNVAL, 0);
	}
	FD_ZERO(&bits);
	FD_SET(fd, &bits);
	CHECK("R-37 while it closes: rselect", rselect(fd + 1, &bits, NULL, NULL, &limit), -1, EBADF);
	CHECK("R-37 while it closes: repoll_ctl", repoll_ctl(set, EPOLL_CTL_ADD, fd, &event), -1, EBADF);
	CHECK_TRUE("R-37 while it closes: at once", now() - start < 2);
	pthread_join(thread, NULL);
	CHECK_TRUE("R-37 it closed slowly", now() - start > 2.5);
	rclose(set);
	rclose(pairs[6][1]);
	pair(7500, pairs[6]);
	fill();
}

int main(void)
{
	pthread_t thread;
	int one = 1;

	if (pipe(pipes))
		return 2;
	for (int i = 0; i < PAIRS; i++)
		pair(7500, pairs[i]);
	fill();
	double start = now();
	CHECK("nothing, first", rpoll(fds, PAIRS + 1, 300), 0, 0);
	CHECK("nothing, again", rpoll(fds, PAIRS + 1, 300), 0, 0);
	CHECK("nothing, and again", rpoll(fds, PAIRS + 1, 300), 0, 0);
	CHECK_TRUE("R-1 in time", now() - start >= 0.899 && now() - start < 1.3);
	random_rounds(500);

	pthread_create(&thread, NULL, later, &pairs[7][1]);
	CHECK("woken by data", rpoll(fds, PAIRS + 1, 5000), 1, 0);
	CHECK("woken by data", fds[7].revents, POLLIN, 0);
	pthread_join(thread, NULL);
	CHECK("level: again", rpoll(fds, PAIRS + 1, 5000), 1, 0);
	fds[7].events = POLLOUT;
	CHECK("other events", rpoll(fds, PAIRS + 1, 5000), 1, 0);
	CHECK("other events", fds[7].revents, POLLOUT, 0);
	fds[7].events = 0;
	CHECK("no events", rpoll(fds, PAIRS + 1, 50), 0, 0);
	fds[7].events = POLLIN | POLLOUT;
	CHECK("both", rpoll(fds, PAIRS + 1, 50), 1, 0);
	CHECK("both", fds[7].revents, POLLIN | POLLOUT, 0);
	fds[7].events = POLLIN;
	rrecv(pairs[7][0], buf, 1, 0);
	fds[9].fd = -fds[9].fd;
	rsend(pairs[9][1], "x", 1, 0);
	CHECK("a negative one is left out", rpoll(fds, PAIRS + 1, 50), 0, 0);
	CHECK("a negative one is left out, again", rpoll(fds, PAIRS + 1, 50), 0, 0);
	fds[9].fd = -fds[9].fd;
	CHECK("and back", rpoll(fds, PAIRS + 1, 5000), 1, 0);
	CHECK("and back, again", rpoll(fds, PAIRS + 1, 5000), 1, 0);
	rrecv(pairs[9][0], buf, 1, 0);
	fds[PAIRS] = fds[2];
	rsend(pairs[2][1], "x", 1, 0);
	usleep(100000);
	CHECK("the same twice", rpoll(fds, PAIRS + 1, 1000), 2, 0);
	CHECK("the same twice, again", rpoll(fds, PAIRS + 1, 1000), 2, 0);
	CHECK("the same twice, and again", rpoll(fds, PAIRS + 1, 1000), 2, 0);
	rrecv(pairs[2][0], buf, 1, 0);
	fill();
	rpoll(fds, PAIRS + 1, 0);
	rpoll(fds, PAIRS + 1, 0);

	/* A number that means another file now. */
	rclose(pairs[5][0]);
	CHECK("a closed one", rpoll(fds, PAIRS + 1, 1000), 1, 0);
	CHECK("a closed one", fds[5].revents, POLLNVAL, 0);
	CHECK("a closed one, again", rpoll(fds, PAIRS + 1, 1000), 1, 0);
	dup2(pipes[0], pairs[5][0]);
	CHECK("an ordinary file instead", rpoll(fds, PAIRS + 1, 50), 0, 0);
	CHECK("an ordinary file instead, again", rpoll(fds, PAIRS + 1, 50), 0, 0);
	if (write(pipes[1], "x", 1) != 1)
		return 2;
	CHECK("with something to read", rpoll(fds, PAIRS + 1, 1000), 2, 0);
	CHECK("with something to read", fds[5].revents, POLLIN, 0);
	if (read(pipes[0], buf, 1) != 1)
		return 2;
	close(pairs[5][0]);
	rclose(pairs[5][1]);
	pair(7500, pairs[5]);
	fill();
	for (int i = 0; i < 3; i++)
		CHECK("a new rsocket", rpoll(fds, PAIRS + 1, 0), 0, 0);
	rsend(pairs[5][1], "x", 1, 0);
	CHECK("a new rsocket with data", rpoll(fds, PAIRS + 1, 5000), 1, 0);
	CHECK("a new rsocket with data", fds[5].revents, POLLIN, 0);
	rrecv(pairs[5][0], buf, 1, 0);

	if (!getenv("THEIRS"))
		while_it_closes();
	one = -1;
	pthread_create(&thread, NULL, later, &one);
	if (!getenv("THEIRS")) {
		CHECK("R-37 closed under the wait", rpoll(fds, PAIRS + 1, 5000), 1, 0);
		CHECK("R-37 closed under the wait", fds[3].revents, POLLNVAL, 0);
	}
	pthread_join(thread, NULL);
	rclose(pairs[3][1]);
	pair(7500, pairs[3]);
	fill();
	rpoll(fds, PAIRS + 1, 0);
	rpoll(fds, PAIRS + 1, 0);
	rshutdown(pairs[4][1], SHUT_WR);
	fds[4].events = POLLIN | POLLRDHUP;
	CHECK("the peer's end", rpoll(fds, PAIRS + 1, 5000), 1, 0);
	CHECK("the peer's end", fds[4].revents & POLLIN, POLLIN, 0);
	fds[4].events = 0;
	handle(SIGALRM, 0);
	alarm(1);
	CHECK("a signal", rpoll(fds, PAIRS + 1, 4000), -1, EINTR);
	/* A child's copy is no use to it, and no harm to us. */
	int status = -1;

	if (!fork()) {
		alarm(10);
		rpoll(fds, PAIRS + 1, 50);
		_exit(0);
	}
	wait(&status);
	CHECK("R-20 a fork's child comes back", status, 0, 0);
	/* What it looks at stays its parent's. */
	rsend(pairs[8][1], "x", 1, 0);
	usleep(100000);
	if (!fork()) {
		struct pollfd one = { pairs[8][0], POLLIN, 0 };
		struct epoll_event event = { .events = EPOLLIN };
		int set = repoll_create ? repoll_create(0) : -1;

		alarm(10);
		CHECK("R-20 rpoll in a fork's child", rpoll(&one, 1, 1000), 1, 0);
		CHECK("R-20 rpoll in a fork's child", one.revents, POLLERR, 0);
		CHECK("R-20 rpoll in a fork's child, many", rpoll(fds, PAIRS, 1000), PAIRS, 0);
		CHECK("R-20 rpoll in a fork's child, many", fds[8].revents, POLLERR, 0);
		if (set >= 0)
			CHECK("R-20 repoll_ctl in a fork's child",
			      repoll_ctl(set, EPOLL_CTL_ADD, pairs[8][0], &event), -1, EPERM);
		_exit(finish());
	}
	wait(&status);
	CHECK("R-20 rpoll in a fork's child ends well", status, 0, 0);
	CHECK("R-20 after a fork: read", rrecv(pairs[8][0], buf, 1, MSG_DONTWAIT), 1, 0);
	rsend(pairs[8][1], "x", 1, 0);
	CHECK("after a fork", rpoll(fds, PAIRS + 1, 5000), 1, 0);
	for (int i = 0; i < PAIRS; i++) {
		rclose(pairs[i][0]);
		rclose(pairs[i][1]);
	}
	return finish();
}
