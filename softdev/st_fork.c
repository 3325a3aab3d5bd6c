/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Several processes and many threads. */
#include "st.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* What a child may do with its parent's file: close it, wait for it, and have ids moved out of it. */
static void forked(void)
{
	struct rdma_event_channel *own;
	struct pair p;
	int status;
	pid_t pid;

	pair_open(&p, RDMA_PS_TCP, 5000);
	EQ(RDMAFAKE(rdmafake_foreign)(), 0);
	pid = fork();
	if (!pid) {
		/* Closing a copy of the channel must not disturb the parent. */
		close(p.sch->fd);
		close(p.cch->fd);
		_exit(0);
	}
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
	EQ(live_now().ids, 3);
	pid = fork();
	if (!pid) {
		struct rdma_cm_event *ev;

		/* Other credentials than those that opened it. */
		FAILS(rdma_disconnect(p.cli), EACCES);
		FAILS(rdma_get_cm_event(p.sch, &ev), EACCES);
		FAILS(rdma_destroy_id(p.listener), EACCES);
		_exit(0);
	}
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
	EQ(live_now().ids, 3);
	EQ(RDMAFAKE(rdmafake_foreign)(), 3);
	pid = fork();
	if (!pid) {
		/* The command is one of the child's own file. */
		CHECK((own = rdma_create_event_channel()) != NULL);
		EQ(rdma_migrate_id(p.cli, own), 0);
		EQ(rdma_disconnect(p.cli), 0);
		_exit(0);
	}
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
	/* It has ended with the child's file. */
	EQ(live_now().ids, 2);
	expect(p.sch, RDMA_CM_EVENT_DISCONNECTED, 0);
	FAILS(rdma_destroy_id(p.cli), ENOENT);
}

/* Two processes that meet only in the kernel. */
static void fork_connects(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_conn_param cp = { .rnr_retry_count = 7 };
	char buf[64] = "over there", got[64] = "";
	struct rdma_cm_id *l, *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	int status;
	pid_t pid;

	EQ(rdma_create_id(ch, &l, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_bind_addr(l, addr("10.77.0.1", 5000)), 0);
	EQ(rdma_listen(l, 1), 0);
	pid = fork();
	if (!pid) {
		ch = rdma_create_event_channel();
		CHECK(ch != NULL);
		EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
		resolve(id, "10.77.0.1", 5000);
		make_qp(id);
		mr = rdma_reg_msgs(id, buf, sizeof(buf));
		EQ(rdma_connect(id, &cp), 0);
		expect(ch, RDMA_CM_EVENT_ESTABLISHED, 0);
		EQ(rdma_post_send(id, NULL, buf, 11, mr, IBV_SEND_SIGNALED), 0);
		EQ(rdma_get_send_comp(id, &wc), 1);
		EQ(wc.status, IBV_WC_SUCCESS);
		expect(ch, RDMA_CM_EVENT_DISCONNECTED, 0);
		rdma_dereg_mr(mr);
		rdma_destroy_ep(id);
		rdma_destroy_event_channel(ch);
		_exit(0);
	}
	id = expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	make_qp(id);
	mr = rdma_reg_msgs(id, got, sizeof(got));
	EQ(rdma_post_recv(id, NULL, got, sizeof(got), mr), 0);
	EQ(rdma_accept(id, &cp), 0);
	expect(ch, RDMA_CM_EVENT_ESTABLISHED, 0);
	EQ(rdma_get_recv_comp(id, &wc), 1);
	EQ(wc.status, IBV_WC_SUCCESS);
	CHECK(!strcmp(got, "over there"));
	EQ(rdma_disconnect(id), 0);
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	EQ(rdma_destroy_id(l), 0);
	rdma_destroy_event_channel(ch);
}

/* A process that is killed says nothing; its kernel does. */
static void killed(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_conn_param cp = { .rnr_retry_count = 7 };
	struct pollfd f = { .events = POLLIN };
	struct rdma_cm_id *l, *id;
	int status;
	pid_t pid;

	EQ(rdma_create_id(ch, &l, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_bind_addr(l, addr("10.77.0.1", 5000)), 0);
	EQ(rdma_listen(l, 1), 0);
	pid = fork();
	if (!pid) {
		ch = rdma_create_event_channel();
		EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
		resolve(id, "10.77.0.1", 5000);
		make_qp(id);
		EQ(rdma_connect(id, &cp), 0);
		expect(ch, RDMA_CM_EVENT_ESTABLISHED, 0);
		for (;;)
			pause();
	}
	id = expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	make_qp(id);
	EQ(rdma_accept(id, &cp), 0);
	expect(ch, RDMA_CM_EVENT_ESTABLISHED, 0);
	f.fd = ch->fd;
	EQ(poll(&f, 1, 100), 0);
	EQ(kill(pid, SIGKILL), 0);
	EQ(poll(&f, 1, 10000), 1);
	expect(ch, RDMA_CM_EVENT_DISCONNECTED, 0);
	EQ(waitpid(pid, &status, 0), pid);
	rdma_destroy_ep(id);
	EQ(rdma_destroy_id(l), 0);
	rdma_destroy_event_channel(ch);
	EQ(live_now().ids + live_now().qps + live_now().cqs + live_now().channels, 0);
}

/* Another program in the same process: what the first one had is gone. */
static void execs(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;
	int status, ends[2], ms;
	char one;
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	if (!pid) {
		struct rdma_event_channel *own = rdma_create_event_channel();

		EQ(rdma_create_id(own, &id, NULL, RDMA_PS_TCP), 0);
		EQ(rdma_bind_addr(id, addr("10.77.0.1", 5000)), 0);
		CHECK(write(ends[1], "x", 1) == 1);
		usleep(100000);
		unsetenv("LD_PRELOAD");
		execlp("sleep", "sleep", "30", (char *)NULL);
		_exit(1);
	}
	CHECK(read(ends[0], &one, 1) == 1);
	EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
	FAILS(rdma_bind_addr(id, addr("10.77.0.1", 5000)), EADDRINUSE);
	for (ms = 0; ms < 5000 && rdma_bind_addr(id, addr("10.77.0.1", 5000)); ms++)
		usleep(1000);
	CHECK(ms < 5000);
	/* The other program still runs. */
	EQ(waitpid(pid, &status, WNOHANG), 0);
	EQ(kill(pid, SIGKILL), 0);
	EQ(waitpid(pid, &status, 0), pid);
	EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(ch);
}

static void new_credentials(void)
{
	struct rdma_event_channel *before = rdma_create_event_channel(), *after;
	struct rdma_cm_id *id;

	EQ(setuid(getuid()), 0);
	FAILS(rdma_create_id(before, &id, NULL, RDMA_PS_TCP), EACCES);
	CHECK((after = rdma_create_event_channel()) != NULL);
	EQ(rdma_create_id(after, &id, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(after);
	rdma_destroy_event_channel(before);
}

static char state_of(pid_t pid)
{
	char path[40], text[512], *end;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	CHECK(f != NULL);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	end = strrchr(text, ')');
	CHECK(end != NULL);
	return end[2];
}

/* A process that is stopped within a call holds up nobody, and stays stopped. */
static void stopped(void)
{
	enum { ROUNDS = 300 };
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;
	pid_t pid = fork();
	int status;

	if (!pid) {
		ch = rdma_create_event_channel();
		for (;;) {
			EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
			EQ(rdma_destroy_id(id), 0);
		}
	}
	for (int i = 0; i < ROUNDS; i++) {
		usleep(1000 + i % 7 * 100);
		EQ(kill(pid, SIGSTOP), 0);
		EQ(waitpid(pid, &status, WUNTRACED), pid);
		CHECK(WIFSTOPPED(status));
		EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
		EQ(rdma_destroy_id(id), 0);
		for (int ms = 0; state_of(pid) != 'T' && ms < 5000; ms++)
			usleep(1000);
		EQ(state_of(pid), 'T');
		EQ(kill(pid, SIGCONT), 0);
	}
	EQ(kill(pid, SIGKILL), 0);
	EQ(waitpid(pid, &status, 0), pid);
	rdma_destroy_event_channel(ch);
}

static void *client_thread(void *arg)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_conn_param cp = { .rnr_retry_count = 7 };
	struct rdma_cm_id *id;

	for (int i = 0; i < *(int *)arg; i++) {
		EQ(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), 0);
		resolve(id, "10.77.0.1", 5000);
		make_qp(id);
		EQ(rdma_connect(id, &cp), 0);
		expect(ch, RDMA_CM_EVENT_ESTABLISHED, 0);
		EQ(rdma_disconnect(id), 0);
		expect(ch, RDMA_CM_EVENT_DISCONNECTED, 0);
		rdma_destroy_ep(id);
	}
	rdma_destroy_event_channel(ch);
	return NULL;
}

/* Many threads, one listener with a backlog of two. */
static void crowd(void)
{
	enum { THREADS = 8 };
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_conn_param cp = { .rnr_retry_count = 7 };
	int each = 40, ended = 0;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *l;
	pthread_t t[THREADS];

	EQ(rdma_create_id(ch, &l, NULL, RDMA_PS_TCP), 0);
	EQ(rdma_bind_addr(l, addr("0.0.0.0", 5000)), 0);
	EQ(rdma_listen(l, 2), 0);
	for (int i = 0; i < THREADS; i++)
		EQ(pthread_create(&t[i], NULL, client_thread, &each), 0);
	while (ended < THREADS * each) {
		struct rdma_cm_id *id;
		enum rdma_cm_event_type type;

		EQ(rdma_get_cm_event(ch, &ev), 0);
		id = ev->id;
		type = ev->event;
		rdma_ack_cm_event(ev);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			make_qp(id);
			EQ(rdma_accept(id, &cp), 0);
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			EQ(rdma_disconnect(id), 0);
			rdma_destroy_ep(id);
			ended++;
		} else {
			EQ(type, RDMA_CM_EVENT_ESTABLISHED);
		}
	}
	for (int i = 0; i < THREADS; i++)
		EQ(pthread_join(t[i], NULL), 0);
	EQ(rdma_destroy_id(l), 0);
	rdma_destroy_event_channel(ch);
	EQ(live_now().ids + live_now().qps + live_now().channels, 0);
}

const struct test fork_tests[] = {
	{ "forked", "", forked },
	{ "fork-connects", "", fork_connects },
	{ "killed", "", killed },
	{ "execs", "", execs },
	{ "credentials", "", new_credentials },
	{ "stopped", "", stopped },
	{ "crowd", "", crowd },
	{ NULL, NULL, NULL },
};
