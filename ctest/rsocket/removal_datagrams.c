// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The device goes under datagram rsockets: they let go of it, whoever waits goes on waiting, datagrams go by UDP
 * meanwhile, and over the device when it is back. On the soft device, and with rxe in a guest.
 * network: yes
 */
#include "device.h"

static int set;

static void take_away(void)
{
	if (!device_goes())
		printf("not-ok datagrams: the device does not go\n");
}

static int bound(int port)
{
	struct sockaddr_in sin = address(port);
	int fd = rsocket(AF_INET, SOCK_DGRAM, 0);
	struct timeval limit = { 3, 0 };

	if (fd < 0 || rbind(fd, (struct sockaddr *)&sin, sizeof sin))
		exit(2);
	rsetsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return fd;
}

/* How many of a hundred datagrams arrive, there and back. */
static int exchanged(int one, int other)
{
	int good = 0;

	for (int i = 0; i < 100; i++) {
		int in = -1, back = -1;

		good += rsend(one, &i, sizeof i, 0) == sizeof i && rrecv(other, &in, sizeof in, 0) == sizeof in && in == i &&
			rsend(other, &i, sizeof i, 0) == sizeof i && rrecv(one, &back, sizeof back, 0) == sizeof back && back == i;
	}
	return good;
}

struct sleeper {
	int fd;
	long result;
};

static void *receives(void *arg)
{
	struct sleeper *s = arg;
	int in;

	s->result = rrecv(s->fd, &in, sizeof in, 0);
	return NULL;
}

/* In a set that watches it all the time. */
static void *waits(void *arg)
{
	struct sleeper *s = arg;
	struct epoll_event event = { .events = EPOLLIN };

	s->result = repoll_wait(set, &event, 1, 20000);
	return NULL;
}

int main(void)
{
	struct sockaddr_in to[2] = { address(8011), address(8012) };
	int one = bound(8011), other = bound(8012), watched = bound(8013);
	struct timeval none = { 0, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	pthread_t threads[2];
	int round, byte = 1;

	if (getenv("THEIRS"))
		return 0;
	rsetsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
	CHECK("datagrams: rconnect", rconnect(one, (struct sockaddr *)&to[1], sizeof to[1]), 0, 0);
	CHECK("datagrams: rconnect", rconnect(other, (struct sockaddr *)&to[0], sizeof to[0]), 0, 0);
	set = repoll_create(0);
	CHECK("datagrams: repoll_ctl", repoll_ctl(set, EPOLL_CTL_ADD, watched, &event), 0, 0);
	CHECK("datagrams: before", exchanged(one, other), 100, 0);
	for (round = 0; round < 3; round++) {
		struct sleeper sleepers[2] = { { other, -2 }, { watched, -2 } };
		struct sockaddr_in third = address(8013);
		double start;
		long before;

		pthread_create(&threads[0], NULL, receives, &sleepers[0]);
		pthread_create(&threads[1], NULL, waits, &sleepers[1]);
		usleep(300000);
		start = now();
		take_away();
		usleep(300000);
		printf("# the device went in %.1f s\n", now() - start);
		CHECK_TRUE("datagrams: the device goes in time", now() - start < 10);
		if (on_soft_device()) {
			struct rdmafake_live live;

			RDMAFAKE(rdmafake_live)(&live);
			CHECK("datagrams: nothing is left", live.qps + live.cqs + live.mrs + live.ahs + live.pds + live.contexts, 0, 0);
		}
		before = on_soft_device() ? over_device() : 0;
		/* Those that sleep are reached by UDP. */
		CHECK("datagrams: rsend while it is gone", rsend(one, &byte, sizeof byte, 0), sizeof byte, 0);
		pthread_join(threads[0], NULL);
		CHECK("datagrams: a receive that slept", sleepers[0].result, sizeof byte, 0);
		CHECK("datagrams: while it is gone", exchanged(one, other), 100, 0);
		if (on_soft_device())
			CHECK("datagrams: not over the device", over_device() - before, 0, 0);
		device_returns();
		/* Looked for each second. */
		usleep(2500000);
		before = over_device();
		CHECK("datagrams: it is back", exchanged(one, other), 100, 0);
		CHECK_TRUE("datagrams: over the device again", over_device() - before > 150);
		/* The first goes by UDP, the others do not. */
		for (int i = 0; i < 20; i++) {
			CHECK_TRUE("datagrams: to a set", rsendto(one, &byte, sizeof byte, 0, (struct sockaddr *)&third,
								   sizeof third) == sizeof byte);
			usleep(20000);
			if (!i) {
				pthread_join(threads[1], NULL);
				CHECK("datagrams: a set that slept", sleepers[1].result, 1, 0);
			}
			CHECK("datagrams: a set", repoll_wait(set, &event, 1, 1000), 1, 0);
			CHECK("datagrams: from a set", rrecv(watched, &byte, sizeof byte, 0), sizeof byte, 0);
		}
	}
	CHECK("datagrams: rclose", rclose(one) | rclose(other) | rclose(watched) | rclose(set), 0, 0);
	return finish();
}
