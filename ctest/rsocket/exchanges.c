// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Two sides take turns in sending random amounts, and wait in every way there is, while other threads use the same
 * sockets. Every byte is compared; a wake-up that gets lost stops both sides for good, which is noticed. On the C
 * library (44) a receive says 0 before the end. */
#include "check.h"
#include <sys/uio.h>

enum { LONGEST = 100000, TURN = 2, WAYS = 8, STANDSTILL = 5 };
/* What goes on beside the two. */
enum { POLLED = 1, IN_SETS = 2, LOOKED_AT = 4, SIGNALS = 8 };

static const struct round {
	const char *name;
	int queue, buffer, beside;
} rounds[] = {
	{ "C 23985e2 alone", 0, 0, 0 },
	{ "C 23985e2 small queues", 16, 8192, 0 },
	{ "C 23985e2 beside looks", 0, 0, LOOKED_AT },
	{ "C 23985e2 beside looks, small queues", 16, 8192, LOOKED_AT },
	{ "C 23985e2 beside pollers and sets", 0, 0, POLLED | IN_SETS },
	{ "C 23985e2 beside signals", 16, 8192, SIGNALS },
	{ "C 23985e2 beside all", 16, 8192, POLLED | IN_SETS | LOOKED_AT | SIGNALS },
};

struct side {
	pthread_t thread;
	int fd, own, sets[3];
	unsigned random;
	unsigned long sent, received;
	unsigned char buf[LONGEST];
};

static struct side sides[2];
static volatile unsigned long turns;
static volatile int over, bad;
static double until;

static unsigned any(unsigned *state, unsigned below)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % below;
}

static unsigned char byte_at(int side, unsigned long at) { return at * 2654435761u >> 13 ^ side; }

/* Until there may be something, or for no reason at all. */
static void wait_for(struct side *s, short events)
{
	static const unsigned kinds[3] = { 0, EPOLLET, EPOLLONESHOT };
	unsigned way = any(&s->random, repoll_create ? WAYS : WAYS - 3);
	int limit = any(&s->random, 4) ? -1 : (int)any(&s->random, 3);
	struct pollfd fds[3] = { { s->fd, events, 0 }, { s->fd, 0, 0 }, { -1, POLLIN, 0 } };
	struct timeval time = { 0, limit * 1000 };
	struct epoll_event event = { .data.fd = s->fd };
	fd_set bits;

	if (way >= WAYS - 3) {
		event.events = (events == POLLIN ? EPOLLIN : EPOLLOUT) | kinds[WAYS - 1 - way];
		repoll_ctl(s->sets[WAYS - 1 - way], EPOLL_CTL_MOD, s->fd, &event);
		repoll_wait(s->sets[WAYS - 1 - way], &event, 1, limit);
	} else if (way == 0) {
		FD_ZERO(&bits);
		FD_SET(s->fd, &bits);
		rselect(s->fd + 1, events == POLLIN ? &bits : NULL, events == POLLIN ? NULL : &bits, NULL,
			limit < 0 ? NULL : &time);
	} else if (way == 1) {
		/* The socket twice, the other way round. */
		struct pollfd swapped[2] = { fds[1], fds[0] };
		rpoll(swapped, 2, limit);
	} else {
		rpoll(fds, way - 1, limit);
	}
}

static int goes_on(void) { return errno == EINTR || errno == EAGAIN; }

static int put(struct side *s, unsigned char *from, unsigned long left)
{
	while (left > 0) {
		unsigned long part = any(&s->random, 2) ? left : 1 + any(&s->random, left);
		unsigned long first = any(&s->random, part + 1);
		struct iovec pieces[4] = { { NULL, 0 }, { from, first }, { from, 0 }, { from + first, part - first } };
		long n;

		switch (any(&s->random, 4)) {
		case 0:
			n = rsend(s->fd, from, part, 0);
			break;
		case 1:
			n = rwritev(s->fd, pieces, 4);
			break;
		case 2:
			wait_for(s, POLLOUT);
			/* fall through */
		default:
			n = rsend(s->fd, from, part, MSG_DONTWAIT);
			if (n < 0 && errno == EAGAIN)
				wait_for(s, POLLOUT);
		}
		if (n == 0 || (n < 0 && !goes_on()))
			return 0;
		if (n > 0) {
			from += n;
			left -= n;
		}
	}
	return 1;
}

static int take(struct side *s, unsigned char *to, unsigned long left)
{
	while (left > 0) {
		unsigned long part = any(&s->random, 2) ? left : 1 + any(&s->random, left);
		unsigned long first = any(&s->random, part + 1);
		struct iovec pieces[4] = { { to, first }, { NULL, 0 }, { to + first, part - first }, { to, 0 } };
		long n;

		switch (any(&s->random, 6)) {
		case 0:
			n = rrecv(s->fd, to, part, 0);
			break;
		case 1:
			n = rrecv(s->fd, to, part, MSG_WAITALL);
			break;
		case 2:
			n = rreadv(s->fd, pieces, 4);
			break;
		case 3:
			n = rrecv(s->fd, to, part, MSG_PEEK);
			if (n > 0 && rrecv(s->fd, to, n, 0) != n)
				return 0;
			break;
		case 4:
			wait_for(s, POLLIN);
			/* fall through */
		default:
			n = rrecv(s->fd, to, part, MSG_DONTWAIT);
			if (n < 0 && errno == EAGAIN)
				wait_for(s, POLLIN);
		}
		if (n == 0 || (n < 0 && !goes_on()))
			return 0;
		if (n > 0) {
			to += n;
			left -= n;
		}
	}
	return 1;
}

/* A turn is its length and so many bytes; the last is empty. */
static int speak(struct side *s, unsigned *length)
{
	unsigned kind = any(&s->random, 50);

	*length = 1 + any(&s->random, kind == 0 ? LONGEST : kind < 6 ? 4096 : 40);
	if (now() > until)
		*length = 0;
	for (unsigned i = 0; i < *length; i++)
		s->buf[i] = byte_at(s->own, s->sent++);
	return put(s, (unsigned char *)length, sizeof *length) && put(s, s->buf, *length);
}

static int listen_to(struct side *s, unsigned *length)
{
	if (!take(s, (unsigned char *)length, sizeof *length) || *length > LONGEST || !take(s, s->buf, *length))
		return 0;
	for (unsigned i = 0; i < *length; i++)
		if (s->buf[i] != byte_at(!s->own, s->received++))
			return 0;
	return 1;
}

static void *take_turns(void *arg)
{
	struct side *s = arg;
	unsigned length = 1;

	for (int turn = 0; length > 0; turn++) {
		int good = turn % TURN == s->own ? speak(s, &length) : listen_to(s, &length);

		if (!good) {
			printf("# side %d, turn %d: %s\n", s->own, turn, errno_name(errno));
			bad = 1;
			break;
		}
		__atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&over, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void *poller(void *arg)
{
	unsigned random = 7;

	while (over < 2) {
		struct pollfd poll = { *(int *)arg, POLLIN, 0 };

		rpoll(&poll, 1, any(&random, 2) ? 100 : (int)any(&random, 3));
		usleep(any(&random, 200));
	}
	return NULL;
}

static void *set_waiter(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int set = repoll_create(0);

	repoll_ctl(set, EPOLL_CTL_ADD, *(int *)arg, &event);
	while (over < 2)
		repoll_wait(set, &event, 1, 100);
	rclose(set);
	return NULL;
}

/* Takes completions that a sleeper waits for, and does not sleep itself. */
static void *looker(void *arg)
{
	unsigned random = 9;

	while (over < 2) {
		struct pollfd poll = { *(int *)arg, 0, 0 };

		rpoll(&poll, 1, 0);
		usleep(any(&random, 50));
	}
	return NULL;
}

static void *signaller(void *arg)
{
	(void)arg;
	for (unsigned random = 11; over == 0; usleep(any(&random, 1000)))
		pthread_kill(sides[any(&random, 2)].thread, SIGUSR1);
	return NULL;
}

static void limit_queues(int fd, const struct round *round)
{
	enum { RDMA_SQSIZE, RDMA_RQSIZE, RDMA_LEVEL = 0x10000 };

	if (!round->queue)
		return;
	rsetsockopt(fd, RDMA_LEVEL, RDMA_SQSIZE, &round->queue, sizeof round->queue);
	rsetsockopt(fd, RDMA_LEVEL, RDMA_RQSIZE, &round->queue, sizeof round->queue);
	rsetsockopt(fd, SOL_SOCKET, SO_SNDBUF, &round->buffer, sizeof round->buffer);
	rsetsockopt(fd, SOL_SOCKET, SO_RCVBUF, &round->buffer, sizeof round->buffer);
}

static void *connect_to(void *arg)
{
	struct sockaddr_in sin = address(7900);

	bad |= rconnect(*(int *)arg, (struct sockaddr *)&sin, sizeof sin) != 0;
	return NULL;
}

static void prepare(const struct round *round)
{
	static const unsigned kinds[3] = { 0, EPOLLET, EPOLLONESHOT };
	int server = listener(7900, 4);
	pthread_t thread;

	sides[1].fd = rsocket(AF_INET, SOCK_STREAM, 0);
	limit_queues(server, round);
	limit_queues(sides[1].fd, round);
	pthread_create(&thread, NULL, connect_to, &sides[1].fd);
	sides[0].fd = raccept(server, NULL, NULL);
	pthread_join(thread, NULL);
	rclose(server);
	for (int own = 0; own < 2; own++) {
		struct side *s = &sides[own];

		s->own = own;
		s->random = 1000 * (1 + own) + (unsigned)(round - rounds);
		s->sent = s->received = 0;
		for (int i = 0; repoll_create && i < 3; i++) {
			struct epoll_event event = { .events = EPOLLIN | kinds[i] };

			s->sets[i] = repoll_create(0);
			repoll_ctl(s->sets[i], EPOLL_CTL_ADD, s->fd, &event);
		}
	}
}

static void run(const struct round *round, double seconds)
{
	pthread_t beside[8];
	int count = 0;
	unsigned long last = turns;

	prepare(round);
	over = 0;
	until = now() + seconds;
	for (int i = 0; i < 2; i++)
		pthread_create(&sides[i].thread, NULL, take_turns, &sides[i]);
	for (int i = 0; i < 2; i++) {
		if (round->beside & POLLED)
			pthread_create(&beside[count++], NULL, poller, &sides[i].fd);
		if (round->beside & IN_SETS && repoll_create)
			pthread_create(&beside[count++], NULL, set_waiter, &sides[i].fd);
		if (round->beside & LOOKED_AT)
			pthread_create(&beside[count++], NULL, looker, &sides[i].fd);
	}
	if (round->beside & SIGNALS)
		pthread_create(&beside[count++], NULL, signaller, NULL);
	for (double moved = now(); over < 2 && !bad; usleep(10000)) {
		if (turns != last) {
			last = turns;
			moved = now();
		} else if (now() - moved > STANDSTILL) {
			printf("# no turn for %d s\n", STANDSTILL);
			bad = 1;
		}
	}
	CHECK(round->name, bad, 0, 0);
	/* The threads sleep for ever: there is no going on. */
	if (bad)
		_exit(finish());
	for (int i = 0; i < count; i++)
		pthread_join(beside[i], NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(sides[i].thread, NULL);
		for (int set = 0; repoll_create && set < 3; set++)
			rclose(sides[i].sets[set]);
		rclose(sides[i].fd);
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	handle(SIGUSR1, 0);
	for (unsigned i = 0; i < sizeof rounds / sizeof rounds[0]; i++)
		run(&rounds[i], seconds);
	printf("# %lu turns\n", turns / TURN);
	return finish();
}
