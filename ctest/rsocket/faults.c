// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What happens when a device, the kernel or an event fails: an errno in bounded time, nothing left behind, and
 * other sockets that go on. On the soft device alone, whose answers can be bent.
 * Nothing of earlier connections is kept: every call of the device is made each time.
 * device: soft
 * network: yes
 * env: RDMACM_POOL_SIZE=0
 */
#include "check.h"
#include <infiniband/verbs.h>

static int (*script)(const char *);
static void (*forget)(void);
static void (*alive)(struct rdmafake_live *);
static int (*async)(const char *, int, int);

static char buf[200000];
static int port = 7600;

/* The result of a connect, as errno; 0 when it succeeded. */
static int dial_errno(int to, int *fd)
{
	struct sockaddr_in sin = address(to);
	struct timeval limit = { 3, 0 };

	*fd = rsocket(AF_INET, SOCK_STREAM, 0);
	rsetsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	errno = 0;
	return rconnect(*fd, (struct sockaddr *)&sin, sizeof sin) ? errno : 0;
}

struct acceptor {
	int listener, fd, error;
};

static void *accept_one(void *arg)
{
	struct acceptor *acceptor = arg;

	errno = 0;
	acceptor->fd = raccept(acceptor->listener, NULL, NULL);
	acceptor->error = errno;
	return NULL;
}

/* Both sides of a connect while a rule is in force; then the same without it. */
static void connect_under(const char *rule, int want)
{
	char name[200];
	int server = listener(port, 8), client, error;
	struct timeval limit = { 1, 0 };
	struct acceptor acceptor = { server, -1, 0 };
	struct rdmafake_live before, after;
	double start = now();

	rsetsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	alive(&before);
	if (script(rule)) {
		printf("not-ok bad rule: %s\n", rule);
		failures++;
	}
	error = dial_errno(port, &client);
	snprintf(name, sizeof name, "%s: connect", rule);
	if (want >= 0)
		CHECK(name, error, want, 0);
	accept_one(&acceptor);
	snprintf(name, sizeof name, "%s: in time", rule);
	CHECK_TRUE(name, now() - start < 6);
	rclose(client);
	if (acceptor.fd >= 0)
		rclose(acceptor.fd);
	forget();
	usleep(50000);
	alive(&after);
	snprintf(name, sizeof name, "%s: nothing left", rule);
	CHECK(name, (after.qps - before.qps) + (after.cqs - before.cqs) + (after.mrs - before.mrs) +
			    (after.channels_cq - before.channels_cq) + (after.ids - before.ids),
	      0, 0);
	error = dial_errno(port, &client);
	accept_one(&acceptor);
	snprintf(name, sizeof name, "%s: the next one", rule);
	CHECK(name, error * 100 + (acceptor.fd < 0), 0, 0);
	rclose(client);
	rclose(acceptor.fd);
	rclose(server);
	port++;
}

static void connecting(void)
{
	/* Verbs of the active side come first. */
	connect_under("verbs create_cq errno=ENOMEM", ENOMEM);
	connect_under("verbs create_comp_channel errno=EMFILE", EMFILE);
	connect_under("verbs reg_mr errno=ENOMEM", ENOMEM);
	connect_under("verbs reg_mr errno=EPERM nth=2", EPERM);
	connect_under("verbs create_qp errno=EINVAL", EINVAL);
	connect_under("verbs modify_qp errno=EIO", EIO);
	connect_under("verbs post_recv errno=ENOMEM", ENOMEM);
	/* Those of the passive side, behind them. A request waits where others may give back what is missing. */
	connect_under("verbs create_cq errno=ENOMEM nth=2", 0);
	connect_under("verbs reg_mr errno=ENOMEM nth=3", 0);
	connect_under("verbs reg_mr errno=ENOMEM nth=4", 0);
	connect_under("verbs create_qp errno=ENOMEM nth=2", 0);
	connect_under("verbs post_recv errno=ENOMEM nth=400", 0);
	connect_under("verbs create_comp_channel errno=EMFILE nth=2", 0);
	connect_under("verbs create_cq errno=EINVAL nth=2", ECONNREFUSED);
	connect_under("verbs reg_mr errno=EPERM nth=3", ECONNREFUSED);
	connect_under("verbs create_qp errno=EINVAL nth=2", ECONNREFUSED);
	connect_under("verbs post_recv errno=EINVAL nth=400", ECONNREFUSED);
	/* The kernel's commands. */
	connect_under("fail RESOLVE_ADDR errno=ENETUNREACH", ENETUNREACH);
	connect_under("fail RESOLVE_ROUTE errno=EHOSTUNREACH", EHOSTUNREACH);
	connect_under("fail CONNECT errno=EADDRNOTAVAIL", EADDRNOTAVAIL);
	connect_under("fail ACCEPT errno=ENOMEM", ECONNREFUSED);
	connect_under("fail MIGRATE_ID errno=ENOMEM", 0);
	connect_under("fail MIGRATE_ID errno=EINVAL", ECONNREFUSED);
	connect_under("fail INIT_QP_ATTR errno=EINVAL", ECONNREFUSED);
	/* Events that come differently, or never. */
	connect_under("drop ADDR_RESOLVED; inject RESOLVE_ADDR event=ADDR_ERROR status=-113", EHOSTUNREACH);
	connect_under("inject CONNECT event=REJECTED status=28", ECONNREFUSED);
	connect_under("inject CONNECT event=UNREACHABLE status=-110", ETIMEDOUT);
	connect_under("drop ADDR_RESOLVED", EINPROGRESS);
	connect_under("drop ROUTE_RESOLVED", EINPROGRESS);
	connect_under("drop CONNECT_REQUEST", EINPROGRESS);
}

/* Connection data that no rsocket sends. The request's private data starts at byte 28 of the event. */
static void hostile_data(void)
{
	static const char *const cases[] = {
		/* another version */
		"patch GET_EVENT always off=28 hex=02",
		/* no version */
		"patch GET_EVENT always off=28 hex=00",
		/* no target entries */
		"patch GET_EVENT always off=48 hex=00000000",
		/* one target entry */
		"patch GET_EVENT always off=48 hex=00000001",
		/* too many */
		"patch GET_EVENT always off=48 hex=ffffffff",
		/* a target list beyond the end of memory */
		"patch GET_EVENT always off=36 hex=ffffffffffffffe8",
		/* a buffer beyond the end of memory */
		"patch GET_EVENT always off=52 hex=ffffffffffffffff; patch GET_EVENT always off=64 hex=ffffffff",
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
		connect_under(cases[i], ECONNREFUSED);
}

static void connected(const char *rule, int want)
{
	int fds[2];
	char name[200];
	double start;
	long n;

	pair(port++, fds);
	rsend(fds[1], "x", 1, 0);
	rrecv(fds[0], buf, 1, 0);
	script(rule);
	start = now();
	errno = 0;
	for (int i = 0; (n = rsend(fds[0], buf, 1000, MSG_DONTWAIT)) > 0 && i < 100; i++)
		;
	snprintf(name, sizeof name, "%s: rsend", rule);
	report(name, n, errno, -1, want);
	CHECK(name, rsend(fds[0], buf, 1, MSG_DONTWAIT), -1, EPIPE);
	struct pollfd poll = { fds[0], POLLIN | POLLOUT, 0 };
	snprintf(name, sizeof name, "%s: rpoll", rule);
	CHECK(name, rpoll(&poll, 1, 1000), 1, 0);
	CHECK(name, poll.revents & POLLHUP, POLLHUP, 0);
	snprintf(name, sizeof name, "%s: rrecv", rule);
	CHECK(name, rrecv(fds[0], buf, 1, 0), 0, 0);
	forget();
	rclose(fds[0]);
	/* The peer hears of it. */
	long end = rrecv(fds[1], buf, sizeof buf, 0);
	report(name, end, errno, end > 0 ? end : -1, end > 0 ? errno : ECONNRESET);
	rclose(fds[1]);
	snprintf(name, sizeof name, "%s: in time", rule);
	CHECK_TRUE(name, now() - start < 3);
}

static void transfers(void)
{
	int fds[2];

	connected("verbs post_send errno=EIO", EIO);
	connected("verbs poll_cq errno=EIO always", EIO);
	/* A wait that cannot be armed ends. */
	pair(port++, fds);
	script("verbs req_notify_cq errno=ENOMEM always");
	CHECK("req_notify_cq fails: rrecv", rrecv(fds[0], buf, 1, 0), -1, ENOMEM);
	struct pollfd poll = { fds[0], POLLIN, 0 };
	CHECK("req_notify_cq fails: rpoll", rpoll(&poll, 1, 1000), -1, ENOMEM);
	forget();
	rsend(fds[1], "x", 1, 0);
	CHECK("req_notify_cq works again", rrecv(fds[0], buf, 1, 0), 1, 0);
	/* Asynchronous events are not ours to read; nothing hangs or spins for them. */
	static const int events[] = { IBV_EVENT_QP_FATAL, IBV_EVENT_CQ_ERR, IBV_EVENT_PORT_ERR,
				      IBV_EVENT_PORT_ACTIVE, IBV_EVENT_DEVICE_FATAL, IBV_EVENT_GID_CHANGE };
	for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++) {
		async("fake0", events[i], 1);
		rsend(fds[1], "y", 1, 0);
		CHECK("data after an asynchronous event", rrecv(fds[0], buf, 1, 0), 1, 0);
	}
	rclose(fds[0]);
	rclose(fds[1]);
}

static void *send_one(void *fd)
{
	rsend(*(int *)fd, "z", 1, 0);
	return NULL;
}

/* A thread is in the middle of a call, which the child does not see the end of. */
static void fork_in_a_call(void)
{
	int fds[2];
	pthread_t thread;

	pair(port++, fds);
	script("hold verb:post_send");
	pthread_create(&thread, NULL, send_one, &fds[0]);
	usleep(200000);
	CHECK_ALONE("a fork while another thread sends: rrecv", rrecv(fds[0], buf, 1, MSG_DONTWAIT), -1, EPERM);
	CHECK_ALONE("a fork while another thread sends: rsend", rsend(fds[0], buf, 1, 0), -1, EPERM);
	forget();
	pthread_join(thread, NULL);
	CHECK("a fork while another thread sends: the parent goes on", rrecv(fds[1], buf, 1, 0), 1, 0);
	rclose(fds[0]);
	rclose(fds[1]);
}

struct sleeper {
	int fd, again, result, error;
	short revents;
};

static void *poll_twice(void *arg)
{
	struct sleeper *s = arg;
	struct pollfd fds[2] = { { s->fd, POLLIN, 0 }, { s->fd, POLLPRI, 0 } };

	s->result = rpoll(fds, 2, 5000);
	s->revents = fds[0].revents;
	return NULL;
}

/* A message that arrives while rpoll, which has looked at the first place, takes an old event for the second. */
static void same_twice(void)
{
	int fds[2];
	pthread_t thread;
	struct pollfd poll;

	pair(port++, fds);
	struct sleeper s = { .fd = fds[0] };
	script("hold verb:req_notify_cq label=asked; hold verb:get_cq_event label=taken");
	pthread_create(&thread, NULL, poll_twice, &s);
	usleep(200000);
	/* Its first credit, which nobody has asked for. */
	poll = (struct pollfd){ fds[1], POLLIN, 0 };
	rpoll(&poll, 1, 0);
	script("release asked");
	usleep(200000);
	rsend(fds[1], "x", 1, 0);
	double start = now();
	script("release taken");
	pthread_join(thread, NULL);
	CHECK("a socket twice in rpoll: woken", s.result, 1, 0);
	CHECK("a socket twice in rpoll: by data", s.revents, POLLIN, 0);
	CHECK_TRUE("a socket twice in rpoll: at once", now() - start < 3);
	forget();
	rclose(fds[0]);
	rclose(fds[1]);
}

static void *receive_all(void *arg)
{
	struct sleeper *s = arg;

	errno = 0;
	s->result = rrecv(s->fd, buf, 100, MSG_WAITALL);
	errno = 0;
	s->again = rrecv(s->fd, buf, 100, MSG_WAITALL);
	s->error = errno;
	return NULL;
}

/* What has come is told, and then the error; a peer that is still there does not keep the call. */
static void part_of_all(void)
{
	int fds[2];
	pthread_t thread;
	double start = now();

	pair(port++, fds);
	struct sleeper s = { .fd = fds[0] };
	pthread_create(&thread, NULL, receive_all, &s);
	usleep(100000);
	rsend(fds[1], "0123456789", 10, 0);
	usleep(100000);
	script("verbs poll_cq errno=EIO nth=2");
	for (int i = 0; i < 20 && pthread_tryjoin_np(thread, NULL); i++) {
		rsend(fds[1], "0123456789", 10, MSG_DONTWAIT);
		usleep(100000);
	}
	CHECK_TRUE("a failure under MSG_WAITALL: in time", now() - start < 1.9);
	CHECK_TRUE("a failure under MSG_WAITALL: what came", s.result >= 10 && s.result < 100);
	report("a failure under MSG_WAITALL: the next call", s.again, s.error, -1, EIO);
	forget();
	rclose(fds[1]);
	rclose(fds[0]);
}

/* A long send without memory for a large buffer goes out by way of the small one. */
static void small_buffer(void)
{
	static char data[60000], back[sizeof data];
	struct rdmafake_live before, after;
	int fds[2];

	for (unsigned i = 0; i < sizeof data; i++)
		data[i] = (char)(i * 7 + (i >> 9));
	pair(port++, fds);
	alive(&before);
	script("verbs reg_mr errno=ENOMEM always");
	CHECK("no memory for a large buffer: rsend", rsend(fds[0], data, sizeof data, 0), (long)sizeof data, 0);
	CHECK("no memory for a large buffer: rrecv", rrecv(fds[1], back, sizeof back, MSG_WAITALL), (long)sizeof back, 0);
	CHECK("no memory for a large buffer: the bytes", memcmp(data, back, sizeof data), 0, 0);
	forget();
	alive(&after);
	CHECK("no memory for a large buffer: none is there", after.mrs - before.mrs, 0, 0);
	rclose(fds[0]);
	rclose(fds[1]);
}

static int datagram(int at)
{
	struct sockaddr_in sin = address(at);
	int fd = rsocket(AF_INET, SOCK_DGRAM, 0);

	CHECK("a search: bind", rbind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0, 0);
	return fd;
}

/* Datagram sockets end while the way to their peer is searched: nothing of them is used after that. */
static void closed_in_a_search(void)
{
	struct sockaddr_in to = address(port + 1);
	int one = datagram(port), other = datagram(port + 1);

	port += 2;
	/* Its id is on no device yet, and keeps none. */
	script("delay ADDR_RESOLVED ms=300 always");
	CHECK("a search: a datagram", rsendto(one, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)), 1, 0);
	usleep(100000);
	CHECK("a search: close", rclose(one), 0, 0);
	CHECK("a search: close", rclose(other), 0, 0);
	usleep(500000);
	forget();
	CHECK("a search: the library lives", rclose(datagram(port++)), 0, 0);
}

int main(void)
{
	script = RDMAFAKE(rdmafake_script);
	forget = RDMAFAKE(rdmafake_reset);
	alive = RDMAFAKE(rdmafake_live);
	async = RDMAFAKE(rdmafake_async);
	if (!script || !alive || !async) {
		printf("skipped: needs the soft device\n");
		return 77;
	}
	int first[2];

	/* What the process makes once, and asks once. */
	script("verbs query_device errno=EIO");
	CHECK("verbs query_device errno=EIO: connect", dial_errno(port++, first), EIO, 0);
	rclose(first[0]);
	forget();
	pair(port++, first);
	rclose(first[0]);
	rclose(first[1]);
	connecting();
	hostile_data();
	transfers();
	fork_in_a_call();
	same_twice();
	part_of_all();
	small_buffer();
	closed_in_a_search();
	return finish();
}
