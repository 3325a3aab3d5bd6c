// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The other side listens for RDMA but never answers: after RS_CONNECT_TIMEOUT_MS the connection goes over TCP, with all
 * that was set before, however the program waits for it. Each case is a process of its own, because a host that was
 * silent is asked no more for a while.
 * rdma: 0
 * env: RS_CONNECT_TIMEOUT_MS=400
 * fake: drop CONNECT_REQUEST always
 */
#include "others.h"
#include "check.h"

static int server, port;
static double begin;

static int fresh(int flags)
{
	begin = now();
	return MUST(socket(AF_INET, SOCK_STREAM | flags, 0));
}

/* RDMA was tried for so long; natively nothing is. */
static void waited(double least, double most)
{
	double took = now() - begin;

	CHECK(took < most);
	CHECK(took >= least || !getenv("LD_PRELOAD"));
}

static void used(int client)
{
	int peer = MUST(accept(server, NULL, NULL));

	MUST(fcntl(client, F_SETFL, 0));
	ping(client, peer);
	close(client), close(peer);
}

static void by_blocking(void)
{
	struct timeval limit = { 7, 0 };
	int client = fresh(0), on = 1, size = 50000, own;

	TITLE("blocking, with options and a port of its own");
	SAY(bind_to(client, HERE, 0));
	own = port_of(client);
	SAY(setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
	SAY(setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
	SAY(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	SAY(setsockopt(client, SOL_SOCKET, SO_SNDBUF, &size, sizeof size));
	SAY(connect_to(client, HERE, port));
	waited(0.39, 1.4);
	say("the port stays: %d", port_of(client) == own);
	on = 0;
	getsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, &(socklen_t){ sizeof on });
	getsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, &(socklen_t){ sizeof limit });
	getsockopt(client, SOL_SOCKET, SO_SNDBUF, &size, &(socklen_t){ sizeof size });
	say("NODELAY %d, RCVTIMEO %ld, SNDBUF %d", on, (long)limit.tv_sec, size);
	used(client);

	TITLE("the same host again, at once");
	client = fresh(0);
	SAY(connect_to(client, HERE, port));
	waited(0, 0.3);
	used(client);
}

/* SO_SNDTIMEO holds for both tries together, and is what it was afterwards. */
static void by_limit(void)
{
	struct timeval limit = { 0, 300000 };
	int client = fresh(0);

	TITLE("blocking, with a limit of its own");
	SAY(setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
	SAY(connect_to(client, HERE, port));
	waited(0.14, 0.35);
	getsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, &(socklen_t){ sizeof limit });
	say("SNDTIMEO %ld.%06ld", (long)limit.tv_sec, (long)limit.tv_usec);
	used(client);
}

static void by_poll(void)
{
	int client = fresh(SOCK_NONBLOCK), error = -1;
	struct pollfd one = { client, POLLOUT | POLLIN, 0 };

	TITLE("poll, and the name while it waits");
	SAY(connect_to(client, HERE, port));
	int own = port_of(client);

	SAY(poll(&one, 1, 5000));
	waited(0.39, 1.4);
	say("[%s]", events(one.revents));
	getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
	say("SO_ERROR %d", error);
	say("the port stays: %d", port_of(client) == own);
	used(client);
}

static void by_select(void)
{
	int client = fresh(SOCK_NONBLOCK);
	struct timeval wait = { 5, 0 };
	fd_set out;

	TITLE("select");
	SAY(connect_to(client, HERE, port));
	FD_ZERO(&out);
	FD_SET(client, &out);
	SAY(select(client + 1, NULL, &out, NULL, &wait));
	waited(0.39, 1.4);
	used(client);
}

static void by_epoll_before(void)
{
	struct epoll_event event = { .events = EPOLLOUT | EPOLLET, .data.u32 = 4 };
	int set = MUST(epoll_create1(0)), client = fresh(SOCK_NONBLOCK);

	TITLE("epoll, registered before");
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, client, &event));
	epoll_wait(set, &event, 1, 0);
	SAY(connect_to(client, HERE, port));
	SAY(epoll_wait(set, &event, 1, 5000));
	waited(0.39, 1.4);
	say("[%s] data %u", events(event.events), event.data.u32);
	used(client);
}

static void by_epoll_after(void)
{
	struct epoll_event event = { .events = EPOLLOUT | EPOLLIN, .data.u32 = 5 };
	int set = MUST(epoll_create1(0)), client = fresh(SOCK_NONBLOCK);

	TITLE("epoll, registered after");
	SAY(connect_to(client, HERE, port));
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, client, &event));
	SAY(epoll_wait(set, &event, 1, 5000));
	waited(0.39, 1.4);
	say("[%s] data %u", events(event.events), event.data.u32);
	used(client);
}

static void by_sending(void)
{
	int client = fresh(SOCK_NONBLOCK), error = -1, peer;
	long n = -1;

	TITLE("asked with getsockopt and send alone");
	SAY(connect_to(client, HERE, port));
	for (int i = 0; i < 100 && n != 1; i++, nap(30)) {
		getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
		n = send(client, "s", 1, MSG_NOSIGNAL);
	}
	waited(0.39, 1.4);
	say("SO_ERROR %d, sent %ld", error, n);
	peer = MUST(accept(server, NULL, NULL));
	SAY(recv(peer, &(char){ 0 }, 1, 0));
	close(peer);
	close(client);
}

/* The program closes the socket before RDMA is given up: its next try is TCP's from the start. */
static void by_impatience(void)
{
	int client = fresh(SOCK_NONBLOCK), again;

	TITLE("closed before, then connected");
	connect_to(client, HERE, port);
	nap(700);
	close(client);
	again = fresh(0);
	SAY(connect_to(again, HERE, port));
	waited(0, 0.3);
	close(again);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "blocking", by_blocking },	   { "limit", by_limit },	      { "poll", by_poll },
	{ "select", by_select },	   { "epoll-before", by_epoll_before }, { "epoll-after", by_epoll_after },
	{ "sending", by_sending },	   { "impatience", by_impatience },
};

int main(int argc, char **argv)
{
	self = argv[0];
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (argc == 1) {
			/* The last one has less patience than the library. */
			if (cases[i].run == by_impatience)
				setenv("RS_CONNECT_TIMEOUT_MS", "5000", 1);
			say("exit %d", exit_of(start(cases[i].name, 0, 0)));
		} else if (!strcmp(argv[1], cases[i].name)) {
			server = listener(8);
			port = port_of(server);
			cases[i].run();
			return failures != 0;
		}
	}
	return 0;
}
