// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The device goes while threads are in every kind of wait on its rsockets: each ends, soon and with ENODEV, what is
 * left of the sockets closes, and a device that comes back serves again. On the soft device, and with rxe in a guest. */
#include "device.h"

enum { WAITS = 6 };

static int port = 7900;
static char buf[200000];

static void take_away(void)
{
	if (!device_goes())
		exit(2);
}

static void bring_back(void)
{
	device_returns();
	usleep(500000);
}

struct sleeper {
	int fd, kind;
	long result;
	int error;
	double end;
};

static void *sleep_in(void *arg)
{
	struct sleeper *s = arg;
	struct pollfd poll = { s->fd, POLLIN, 0 };
	struct sockaddr_in silent = address(7999);
	struct epoll_event event = { .events = EPOLLIN };
	int set;

	errno = 0;
	switch (s->kind) {
	case 0: s->result = rrecv(s->fd, buf, 1, 0); break;
	case 1: s->result = rpoll(&poll, 1, 30000) * 10000L + poll.revents; break;
	case 2: s->result = raccept(s->fd, NULL, NULL); break;
	case 3:
		/* On the device's network, and nobody has it; on the soft device the next event never comes. */
		if (!on_soft_device())
			silent.sin_addr.s_addr ^= htonl(77);
		s->result = rconnect(s->fd, (struct sockaddr *)&silent, sizeof silent);
		break;
	case 4: while ((s->result = rsend(s->fd, buf, sizeof buf, 0)) > 0) ; break;
	default:
		set = repoll_create ? repoll_create(0) : -1;
		if (set < 0 || repoll_ctl(set, EPOLL_CTL_ADD, s->fd, &event))
			break;
		s->result = repoll_wait(set, &event, 1, 30000) * 10000L + event.events;
		s->error = errno;
		rclose(set);
		s->end = now();
		return NULL;
	}
	s->error = errno;
	s->end = now();
	return NULL;
}

static void reads_end(const char *name, const struct sleeper *s)
{
	/* Both ends are here: the first that hears of it resets the other. */
	report(name, s->result, s->error, -1, !on_soft_device() && s->error == ECONNRESET ? ECONNRESET : ENODEV);
}

static void polls_end(const char *name, const struct sleeper *s)
{
	CHECK(name, s->result, 10000 + (POLLIN | POLLERR | POLLHUP), 0);
}

int main(void)
{
	int pairs[5][2], server, connecting, again[2], descriptors = open_files();
	double limit = on_soft_device() ? 3 : 10, start;
	pthread_t threads[WAITS];

	/* It has nothing that ends these waits. */
	if (getenv("THEIRS"))
		return 0;
	for (int i = 0; i < 5; i++)
		pair(port++, pairs[i]);
	server = listener(port++, 8);
	connecting = rsocket(AF_INET, SOCK_STREAM, 0);
	if (on_soft_device())
		RDMAFAKE(rdmafake_script)("drop ROUTE_RESOLVED");
	struct sleeper sleepers[WAITS] = { { pairs[0][0], 0, -2, 0, 0 }, { pairs[1][0], 1, -2, 0, 0 }, { server, 2, -2, 0, 0 },
					   { connecting, 3, -2, 0, 0 }, { pairs[2][0], 4, -2, 0, 0 }, { pairs[3][0], 5, -2, 0, 0 } };
	for (int i = 0; i < WAITS; i++)
		pthread_create(&threads[i], NULL, sleep_in, &sleepers[i]);
	usleep(on_soft_device() ? 400000 : 2000000);
	start = now();
	/* The kernel holds the device until its last user has let go, so the closes come at the same time. */
	pthread_t remover;
	pthread_create(&remover, NULL, (void *(*)(void *))(void *)take_away, NULL);
	for (int i = 0; i < WAITS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_TRUE("device removed: in time", sleepers[i].end - start < limit);
	}
	reads_end("device removed: rrecv", &sleepers[0]);
	polls_end("device removed: rpoll", &sleepers[1]);
	report("device removed: raccept", sleepers[2].result, sleepers[2].error, -1, ENODEV);
	report("device removed: rconnect", sleepers[3].result, sleepers[3].error, -1,
	       on_soft_device() || sleepers[3].error == ENODEV ? ENODEV : EHOSTUNREACH);
	report("device removed: rsend", sleepers[4].result, sleepers[4].error, -1,
	       !on_soft_device() && sleepers[4].error == ECONNRESET ? ECONNRESET : ENODEV);
	polls_end("device removed: repoll_wait", &sleepers[5]);
	/* Nobody was in a call of this one. */
	struct pollfd poll = { pairs[4][0], POLLIN, 0 };
	CHECK("device removed: rpoll afterwards", rpoll(&poll, 1, 5000), 1, 0);
	struct sleeper later = { pairs[4][0], 0, -2, 0, 0 };
	sleep_in(&later);
	reads_end("device removed: rrecv afterwards", &later);
	CHECK("device removed: the end", rrecv(pairs[4][0], buf, 1, 0), 0, 0);
	CHECK("device removed: rsend afterwards", rsend(pairs[4][0], buf, 1, MSG_NOSIGNAL) < 0 &&
		   (errno == ECONNRESET || errno == EPIPE || errno == ENODEV), 1, 0);
	start = now();
	for (int i = 0; i < 5; i++) {
		CHECK("device removed: rclose", rclose(pairs[i][0]), 0, 0);
		CHECK("device removed: rclose", rclose(pairs[i][1]), 0, 0);
	}
	CHECK("device removed: rclose", rclose(server), 0, 0);
	CHECK("device removed: rclose", rclose(connecting), 0, 0);
	CHECK_TRUE("device removed: closed in time", now() - start < limit);
	pthread_join(remover, NULL);
	CHECK_TRUE("device removed: it is gone in time", now() - start < limit);
	usleep(200000);
	if (on_soft_device()) {
		struct rdmafake_live live;

		RDMAFAKE(rdmafake_live)(&live);
		CHECK("device removed: nothing left", live.ids + live.qps + live.cqs + live.mrs + live.contexts, 0, 0);
	}
	bring_back();
	pair(port++, again);
	rsend(again[1], "x", 1, 0);
	CHECK("device back", rrecv(again[0], buf, 1, 0), 1, 0);
	rclose(again[0]);
	rclose(again[1]);
	printf("# descriptors %d, before %d\n", open_files(), descriptors);
	return finish();
}
