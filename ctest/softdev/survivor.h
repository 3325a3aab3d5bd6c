/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The process that lives on: it serves clients, asks servers, and sees that nothing of the dead is left. */
#ifndef SOFTDEV_SURVIVOR_H
#define SOFTDEV_SURVIVOR_H

#include "victim.h"

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

enum { LIMIT_MS = 5000, SIDES = 64 };

extern char **environ;

static char self[4096];
static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener;
static struct rdmafake_live baseline;

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Starts a victim; with `tells`, gives the end of a pipe that has its standard error. */
static pid_t start(const char *role, const char *call, long n, int *tells)
{
	char *argv[] = { self, "victim", (char *)role, NULL };
	posix_spawn_file_actions_t files;
	int ends[2];
	char text[64];
	pid_t pid;

	snprintf(text, sizeof(text), "%s:%ld", call ? call : "", n);
	if (call)
		setenv("RDMAFAKE_KILL", text, 1);
	else
		unsetenv("RDMAFAKE_KILL");
	posix_spawn_file_actions_init(&files);
	if (tells) {
		MUST(!pipe(ends));
		posix_spawn_file_actions_adddup2(&files, ends[1], 2);
		posix_spawn_file_actions_addclose(&files, ends[0]);
		*tells = ends[0];
	}
	MUST(!posix_spawn(&pid, self, &files, NULL, argv, environ));
	posix_spawn_file_actions_destroy(&files);
	unsetenv("RDMAFAKE_KILL");
	if (tells)
		close(ends[1]);
	return pid;
}

/* The survivor's side of a connection. */
struct side {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char in[64], out[64];
	bool used, asked;
};

static struct side sides[SIDES];

static struct side *new_side(struct rdma_cm_id *id)
{
	for (int i = 0; i < SIDES; i++)
		if (!sides[i].used) {
			sides[i] = (struct side) { .id = id, .used = true };
			id->context = &sides[i];
			return &sides[i];
		}
	abort();
}

static void end_side(struct side *s)
{
	if (s->id->qp)
		rdma_destroy_qp(s->id);
	if (s->mr)
		ibv_dereg_mr(s->mr);
	rdma_destroy_id(s->id);
	s->used = false;
}

static int equip(struct side *s)
{
	return make_qp(s->id) || !(s->mr = rdma_reg_msgs(s->id, s, sizeof(*s))) ||
	       rdma_post_recv(s->id, NULL, s->in, sizeof(s->in), s->mr);
}

static void event(enum rdma_cm_event_type type, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct side *s = type == RDMA_CM_EVENT_CONNECT_REQUEST ? new_side(id) : id->context;

	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (equip(s) || rdma_accept(id, &param))
			end_side(s);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, 1000))
			end_side(s);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (equip(s) || rdma_connect(id, &param))
			end_side(s);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		/* As a client it speaks first. */
		if (s->asked && rdma_post_send(id, NULL, s->out, sizeof(s->out), s->mr, 0))
			end_side(s);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		end_side(s);
		break;
	default:
		end_side(s);
	}
}

static void look(void)
{
	struct pollfd f = { channel->fd, POLLIN, 0 };
	struct rdma_cm_event *ev;
	struct ibv_wc wc;

	while (poll(&f, 1, 1) == 1 && !rdma_get_cm_event(channel, &ev)) {
		enum rdma_cm_event_type type = ev->event;
		struct rdma_cm_id *id = ev->id;

		rdma_ack_cm_event(ev);
		event(type, id);
	}
	for (int i = 0; i < SIDES; i++) {
		struct side *s = &sides[i];

		while (s->used && s->id->qp && ibv_poll_cq(s->id->send_cq, 1, &wc) > 0)
			;
		if (!s->used || !s->id->qp || ibv_poll_cq(s->id->recv_cq, 1, &wc) < 1 || wc.status)
			continue;
		if (s->asked)
			rdma_disconnect(s->id);
		else
			rdma_post_send(s->id, NULL, s->in, wc.byte_len, s->mr, 0);
	}
}

static int busy(void)
{
	int n = 0;

	for (int i = 0; i < SIDES; i++)
		n += sides[i].used;
	return n;
}

/* Connects to a victim that serves. */
static void ask(void)
{
	struct rdma_cm_id *id;
	struct side *s;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return;
	s = new_side(id);
	s->asked = true;
	if (rdma_resolve_addr(id, NULL, address(VICTIM_PORT), 1000))
		end_side(s);
}

/* Until the victim has ended and its connections have; gives its status, or -1. */
static int play(const char *role, pid_t pid)
{
	long end = now_ms() + LIMIT_MS, next = 0;
	int status = 0;
	bool gone = false;

	while (now_ms() < end && (!gone || busy())) {
		look();
		gone = gone || waitpid(pid, &status, WNOHANG) == pid;
		if (!strcmp(role, "server") && !gone && !busy() && now_ms() >= next) {
			ask();
			next = now_ms() + 2;
		}
	}
	if (gone && !busy())
		return status;
	if (!gone) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	for (int i = 0; i < SIDES; i++)
		if (sides[i].used)
			end_side(&sides[i]);
	return -1;
}

static bool same(void)
{
	struct rdmafake_live now;

	RDMAFAKE(rdmafake_live)(&now);
	if (!memcmp(&now, &baseline, sizeof(now)))
		return true;
	printf("    left: channels %d ids %d events %d groups %d contexts %d pds %d mrs %d cqs %d qps %d srqs %d\n",
	       now.channels - baseline.channels, now.ids - baseline.ids, now.events - baseline.events,
	       now.multicasts - baseline.multicasts, now.contexts - baseline.contexts, now.pds - baseline.pds,
	       now.mrs - baseline.mrs, now.cqs - baseline.cqs, now.qps - baseline.qps, now.srqs - baseline.srqs);
	return false;
}

static void baseline_again(void)
{
	RDMAFAKE(rdmafake_live)(&baseline);
}

/* Listens, and lives once without anybody being killed. */
static void survivor_begin(void)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(n > 0);
	MUST((channel = rdma_create_event_channel()) && !rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(listener, address(SURVIVOR_PORT)) && !rdma_listen(listener, SIDES));
	MUST(!play("client", start("client", NULL, 0, NULL)));
	baseline_again();
}

#endif
