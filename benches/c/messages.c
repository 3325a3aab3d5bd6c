/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A message of 64 bytes, call by call: a connected pair of rsockets in one process. Under callgrind only.
 *
 *	messages ROUNDS    instructions of so many rounds of each call
 *
 * Nobody waits: what is received has arrived before.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>

/* As in lib/local.py. */
#define BURST 8
#define SIZE 64

static int near, far;
static char data[SIZE];

static void *connecting(void *nothing)
{
	MUST(!rconnect(near, device_address(7481), sizeof(struct sockaddr_in)));
	return nothing;
}

static void connect_both(void)
{
	int listener, on = 1;
	pthread_t thread;

	MUST((listener = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0 && (near = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	MUST(!rbind(listener, device_address(7481), sizeof(struct sockaddr_in)) && !rlisten(listener, 1));
	MUST(!pthread_create(&thread, NULL, connecting, NULL));
	MUST((far = raccept(listener, NULL, NULL)) >= 0);
	MUST(!pthread_join(thread, NULL));
	MUST(!rsetsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
	rclose(listener);
}

static void send_some(long count)
{
	while (count-- > 0)
		MUST(rsend(near, data, SIZE, 0) == SIZE);
}

static void receive_some(long count)
{
	while (count-- > 0)
		MUST(rrecv(far, data, SIZE, 0) == SIZE);
}

static void write_some(long count)
{
	while (count-- > 0)
		MUST(rwrite(near, data, SIZE) == SIZE);
}

static void read_some(long count)
{
	while (count-- > 0)
		MUST(rread(far, data, SIZE) == SIZE);
}

static void receive_none(long count)
{
	while (count-- > 0)
		MUST(rrecv(far, data, SIZE, MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

static void poll_one(long count)
{
	struct pollfd fds = { .fd = far, .events = POLLIN };

	while (count-- > 0)
		MUST(rpoll(&fds, 1, 0) == 1);
}

static void nothing(long count)
{
	(void)count;
}

/* Counts `what` alone, between what comes before and after it; the first time for nobody (see manager.c). */
static void rounds(const char *name, long count, long burst, void (*before)(long), void (*what)(long), void (*after)(long))
{
	for (int counted = 0; counted < 2; counted++) {
		for (long i = 0; i < count; i++) {
			before(burst);
			CALLGRIND_TOGGLE_COLLECT;
			what(burst);
			CALLGRIND_TOGGLE_COLLECT;
			after(burst);
		}
		CALLGRIND_DUMP_STATS_AT(counted ? name : "");
	}
}

int main(int argc, char **argv)
{
	long count = argument(argc, argv, 1, 10);

	connect_both();
	rounds("rsend", count, BURST, nothing, send_some, receive_some);
	rounds("rwrite", count, BURST, nothing, write_some, receive_some);
	rounds("rrecv, of eight that have come", count, BURST, send_some, receive_some, nothing);
	rounds("rread, of eight that have come", count, BURST, send_some, read_some, nothing);
	rounds("rrecv, of one that has come", count, 1, send_some, receive_some, nothing);
	rounds("rrecv, of none", count, BURST, nothing, receive_none, nothing);
	rounds("rpoll, one ready", count, 1, send_some, poll_one, receive_some);
	printf("bursts of %d\n", BURST);
	return 0;
}
