/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Self-test of the soft device. Runs each test in a process of its own with
 * librdmafake.so preloaded and the test's script in the environment:
 *	selftest [test ...]
 * Other preloads (a sanitizer's run time) are kept in front.
 */
#include "st.h"

#include <arpa/inet.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

enum { LIMIT_S = 60 };

struct sockaddr *addr(const char *ip, int port)
{
	static __thread struct sockaddr_storage a;

	memset(&a, 0, sizeof(a));
	if (strchr(ip, ':')) {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;

		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		CHECK(inet_pton(AF_INET6, ip, &v6->sin6_addr) == 1);
	} else {
		struct sockaddr_in *v4 = (struct sockaddr_in *)&a;

		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		CHECK(inet_pton(AF_INET, ip, &v4->sin_addr) == 1);
	}
	return (struct sockaddr *)&a;
}

struct rdma_cm_id *expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	EQ(rdma_get_cm_event(ch, &ev), 0);
	if (ev->event != type)
		printf("got %s, status %d\n", rdma_event_str(ev->event), ev->status);
	EQ(ev->event, type);
	EQ(ev->status, status);
	id = ev->id;
	EQ(rdma_ack_cm_event(ev), 0);
	return id;
}

void resolve(struct rdma_cm_id *id, const char *ip, int port)
{
	EQ(rdma_resolve_addr(id, NULL, addr(ip, port), 1000), 0);
	expect(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	EQ(rdma_resolve_route(id, 1000), 0);
	expect(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr a = {
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2,
			 .max_inline_data = 32 },
		.qp_type = id->ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC,
	};

	EQ(rdma_create_qp(id, NULL, &a), 0);
}

void pair_request(struct pair *p, enum rdma_port_space ps, int port)
{
	struct rdma_conn_param cp = {
		.private_data = "hello", .private_data_len = 6, .responder_resources = 3,
		.initiator_depth = 2, .retry_count = 5, .rnr_retry_count = 7,
	};

	memset(p, 0, sizeof(*p));
	CHECK((p->sch = rdma_create_event_channel()) != NULL);
	CHECK((p->cch = rdma_create_event_channel()) != NULL);
	EQ(rdma_create_id(p->sch, &p->listener, p, ps), 0);
	EQ(rdma_create_id(p->cch, &p->cli, p, ps), 0);
	EQ(rdma_bind_addr(p->listener, addr("10.77.0.1", port)), 0);
	EQ(rdma_listen(p->listener, 3), 0);
	resolve(p->cli, "10.77.0.1", port);
	make_qp(p->cli);
	EQ(rdma_connect(p->cli, &cp), 0);
	p->srv = expect(p->sch, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	CHECK(p->srv != p->listener);
}

void pair_open(struct pair *p, enum rdma_port_space ps, int port)
{
	struct rdma_conn_param cp = { .private_data = "welcome", .private_data_len = 8,
				      .responder_resources = 2, .initiator_depth = 3, .rnr_retry_count = 7 };

	pair_request(p, ps, port);
	make_qp(p->srv);
	p->smr = ibv_reg_mr(p->srv->pd, p->sbuf, sizeof(p->sbuf),
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			    IBV_ACCESS_REMOTE_ATOMIC);
	p->cmr = ibv_reg_mr(p->cli->pd, p->cbuf, sizeof(p->cbuf), IBV_ACCESS_LOCAL_WRITE);
	CHECK(p->smr && p->cmr);
	cp.qp_num = p->srv->qp->qp_num;
	EQ(rdma_accept(p->srv, &cp), 0);
	expect(p->cch, RDMA_CM_EVENT_ESTABLISHED, 0);
	if (ps == RDMA_PS_TCP)
		expect(p->sch, RDMA_CM_EVENT_ESTABLISHED, 0);
}

void pair_close(struct pair *p)
{
	struct rdmafake_live l;

	if (p->smr)
		EQ(ibv_dereg_mr(p->smr), 0);
	if (p->cmr)
		EQ(ibv_dereg_mr(p->cmr), 0);
	if (p->srv->qp)
		rdma_destroy_qp(p->srv);
	if (p->cli->qp)
		rdma_destroy_qp(p->cli);
	EQ(rdma_destroy_id(p->srv), 0);
	EQ(rdma_destroy_id(p->cli), 0);
	EQ(rdma_destroy_id(p->listener), 0);
	rdma_destroy_event_channel(p->sch);
	rdma_destroy_event_channel(p->cch);
	l = live_now();
	EQ(l.channels, 0);
	EQ(l.ids, 0);
	EQ(l.events, 0);
	EQ(l.qps, 0);
	EQ(l.cqs, 0);
	EQ(l.mrs, 0);
}

void script(const char *text)
{
	int (*fn)(const char *) = RDMAFAKE(rdmafake_script);

	CHECK(fn != NULL);
	EQ(fn(text), 0);
}

struct rdmafake_live live_now(void)
{
	struct rdmafake_live l;

	RDMAFAKE(rdmafake_live)(&l);
	return l;
}

static const struct test *const tables[] = { conn_tests, more_tests, script_tests, verbs_tests,
					    raw_tests, fork_tests };

static const struct test *find(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct test *t = tables[i]; t->name; t++)
			if (!strcmp(t->name, name))
				return t;
	return NULL;
}

static int start(const char *self, const struct test *t)
{
	char preload[2 * PATH_MAX + 2], dir[PATH_MAX], map[PATH_MAX + 32];
	const char *old = getenv("LD_PRELOAD");
	int status;
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s", self);
	snprintf(preload, sizeof(preload), "%s%s%s/librdmafake.so", old ? old : "", old ? " " : "",
		 dirname(dir));
	snprintf(dir, sizeof(dir), "%s", self);
	snprintf(map, sizeof(map), "/nowhere/else=%s", dirname(dir));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("LD_PRELOAD", preload, 1);
		setenv("RDMAFAKE", t->script, 1);
		setenv("RDMAFAKE_MAP", map, 1);
		execl(self, self, "--run", t->name, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("%s %s\n", status ? "FAIL" : "ok  ", t->name);
	return status != 0;
}

int main(int argc, char **argv)
{
	char self[PATH_MAX];
	int bad = 0;

	if (argc == 3 && !strcmp(argv[1], "--run")) {
		alarm(LIMIT_S);
		find(argv[2])->run();
		EQ(RDMAFAKE(rdmafake_check)(), 0);
		return 0;
	}
	CHECK(realpath("/proc/self/exe", self) != NULL);
	for (int i = 1; i < argc; i++)
		bad += find(argv[i]) ? start(self, find(argv[i])) : (printf("no test %s\n", argv[i]), 1);
	for (size_t i = 0; argc == 1 && i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct test *t = tables[i]; t->name; t++)
			bad += start(self, t);
	printf("%s\n", bad ? "FAILED" : "all passed");
	return bad != 0;
}
