// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What is kept of connections that have ended: the next ones are made of it, it is bounded, given back when nobody
 * needs it, not inherited by a fork's child, gone with the device, and not kept at all where that is turned off.
 * On the soft device alone, which counts its objects. That no byte and no key goes on to the next connection is
 * shown by hostile.c.
 * device: soft
 * network: yes
 * env: RDMACM_POOL_SIZE=6
 */
#include "check.h"
#include <sys/resource.h>

enum { KEPT = 6, MANY = 10 };

static int port = 7400;
static void (*alive)(struct rdmafake_live *);
static uint64_t (*calls)(const char *);

static struct rdmafake_live now_alive(void)
{
	struct rdmafake_live live;

	alive(&live);
	return live;
}

static void talk(const int fds[2])
{
	char byte = 0;

	if (rsend(fds[0], "a", 1, 0) != 1 || rrecv(fds[1], &byte, 1, 0) != 1 || byte != 'a' || rsend(fds[1], "b", 1, 0) != 1 ||
	    rrecv(fds[0], &byte, 1, 0) != 1 || byte != 'b')
		CHECK_TRUE("a byte each way", 0);
}

static void connections(int count, int at_once)
{
	int fds[MANY][2];

	for (int i = 0; i < count; i += at_once) {
		for (int k = 0; k < at_once; k++) {
			pair(port++, fds[k]);
			talk(fds[k]);
		}
		for (int k = 0; k < at_once; k++) {
			rclose(fds[k][0]);
			rclose(fds[k][1]);
		}
	}
}

/* Calls of the device that `count` connections take. */
static uint64_t taken_by(const char *call, int count)
{
	uint64_t before = calls(call);

	connections(count, 1);
	return calls(call) - before;
}

static void reused(void)
{
	connections(2, 1);
	CHECK("reused: no new completion queues", taken_by("create_cq", 10), 0, 0);
	CHECK("reused: no new completion channels", taken_by("create_comp_channel", 10), 0, 0);
	CHECK("reused: no new protection domains", taken_by("alloc_pd", 10), 0, 0);
	/* A side registers what the peer writes to, with a key of its own, and nothing else. */
	CHECK("reused: one registration a side", taken_by("reg_mr", 10), 20, 0);
	CHECK("reused: a queue pair a side", taken_by("create_qp", 10), 20, 0);
}

static void bounded(void)
{
	struct rdmafake_live live;

	connections(4 * MANY, MANY);
	live = now_alive();
	printf("# kept: %u completion queues, %u registrations, %u channels\n", live.cqs, live.mrs, live.channels_cq);
	CHECK("bounded: completion queues", live.cqs, KEPT, 0);
	CHECK("bounded: completion channels", live.channels_cq, KEPT, 0);
	CHECK("bounded: registrations", live.mrs, KEPT, 0);
	CHECK("bounded: queue pairs", live.qps, 0, 0);
}

static void idle(void)
{
	struct rdmafake_live live;

	connections(2, 1);
	/* Two periods of a second, and a little. */
	for (int i = 0; i < 60 && (live = now_alive(), live.cqs + live.mrs + live.pds); i++)
		usleep(50000);
	CHECK("idle: nothing is kept", live.cqs + live.mrs + live.pds + live.channels_cq, 0, 0);
	connections(1, 1);
	CHECK_TRUE("idle: and again", now_alive().cqs > 0);
}

static uint32_t registrations_within(double limit, uint32_t want)
{
	double end = now() + limit;

	while (now_alive().mrs != want && now() < end)
		usleep(50000);
	return now_alive().mrs;
}

/* A connection sends from a small buffer until more is sent at once than it has room for, and when nothing has moved
 * for a while. A side has two registrations, and another for a large one. */
static void rings(void)
{
	static char data[60000], back[sizeof data];
	int fds[2];

	CHECK("rings: none at first", registrations_within(5, 0), 0, 0);
	pair(port++, fds);
	talk(fds);
	CHECK("rings: small ones", now_alive().mrs, 4, 0);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < sizeof data; i++)
			data[i] = (char)(i * 7 + (i >> 9) + round);
		CHECK("rings: a long send", rsend(fds[0], data, sizeof data, 0), (long)sizeof data, 0);
		CHECK("rings: a long send: received", rrecv(fds[1], back, sizeof back, MSG_WAITALL), (long)sizeof back, 0);
		CHECK("rings: a long send: its bytes", memcmp(data, back, sizeof data), 0, 0);
		CHECK("rings: a large one for it", now_alive().mrs, 5, 0);
		if (round == 0)
			continue;
		/* The pool has it for a period or two, and then nobody. */
		CHECK("rings: small ones when idle", registrations_within(8, 4), 4, 0);
		talk(fds);
	}
	rclose(fds[0]);
	rclose(fds[1]);
}

/* The parent's are its own. */
static void forked(void)
{
	int status;
	pid_t pid;

	connections(2, 1);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		uint64_t before = calls("create_cq"), destroyed = calls("destroy_cq");

		connections(1, 1);
		CHECK("forked: the child makes its own queues", calls("create_cq") - before, 2, 0);
		CHECK("forked: the child destroys none", calls("destroy_cq") - destroyed, 0, 0);
		fflush(stdout);
		_exit(finish());
	}
	waitpid(pid, &status, 0);
	CHECK("forked: the child", status, 0, 0);
	CHECK("forked: the parent has its own still", taken_by("create_cq", 4), 0, 0);
}

static void removed(void)
{
	int open[2];
	struct rdmafake_live live;
	double start;

	pair(port++, open);
	connections(2 * MANY, MANY);
	CHECK_TRUE("removed: something is kept", now_alive().cqs > 2);
	start = now();
	RDMAFAKE(rdmafake_device_remove)("fake0");
	/* The connection's own two go with it. */
	for (int i = 0; i < 50 && (live = now_alive(), live.cqs > 2 || live.mrs > 4); i++)
		usleep(5000);
	printf("# removed: after %.0f ms\n", (now() - start) * 1e3);
	CHECK_TRUE("removed: no queue is kept", live.cqs <= 2);
	CHECK_TRUE("removed: no registration is kept", live.mrs <= 4);
	rclose(open[0]);
	rclose(open[1]);
	live = now_alive();
	CHECK("removed: nothing is left", live.cqs + live.mrs + live.pds + live.channels_cq, 0, 0);
	CHECK_TRUE("removed: at once", now() - start < 0.9);
	RDMAFAKE(rdmafake_device_return)("fake0");
	usleep(300000);
	connections(2, 1);
	CHECK("removed: as before on the new one", taken_by("create_cq", 4), 0, 0);
}

/* Descriptors that the pool has are the program's, where it has no others. */
static void out_of_descriptors(void)
{
	struct rlimit limit, before;
	int fds[2], count = 0, some[64];

	connections(2 * MANY, MANY);
	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	limit.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &limit);
	while (count < 64 && (some[count] = dup(0)) >= 0)
		count++;
	/* A listener and two sockets, each side's channel, and what the waits use. */
	for (int i = 0; i < 5 && count; i++)
		close(some[--count]);
	errno = 0;
	pair(port++, fds);
	CHECK_TRUE("no descriptors: a connection", fds[0] >= 0 && fds[1] >= 0);
	talk(fds);
	rclose(fds[0]);
	rclose(fds[1]);
	while (count)
		close(some[--count]);
	setrlimit(RLIMIT_NOFILE, &before);
}

/* In a process of its own, where the size is read anew. */
static void turned_off(char **argv)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("RDMACM_POOL_SIZE", "0", 1);
		execv("/proc/self/exe", (char *[]){ argv[0], "off", NULL });
		_exit(9);
	}
	waitpid(pid, &status, 0);
	CHECK("turned off", status, 0, 0);
}

static int off(void)
{
	struct rdmafake_live live;

	connections(3, 1);
	live = now_alive();
	CHECK("turned off: nothing is kept", live.cqs + live.mrs + live.pds + live.channels_cq, 0, 0);
	CHECK("turned off: each makes its own", taken_by("create_cq", 4), 8, 0);
	return finish();
}

int main(int argc, char **argv)
{
	alive = RDMAFAKE(rdmafake_live);
	calls = RDMAFAKE(rdmafake_verbs);
	if (!alive || !calls) {
		printf("skipped: needs the soft device\n");
		return 77;
	}
	if (argc > 1)
		return off();
	reused();
	bounded();
	idle();
	rings();
	forked();
	removed();
	out_of_descriptors();
	turned_off(argv);
	return finish();
}
