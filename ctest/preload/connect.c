// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connecting: blocking and not, refused, to nobody, twice, from a chosen port; names and errors on the way.
 * rdma: 8
 * over-c: yes
 */
#include "common.h"

static int port;

static int fresh(int flags)
{
	return MUST(socket(AF_INET, SOCK_STREAM | flags, 0));
}

static int wait_out(int fd, int timeout)
{
	struct pollfd one = { fd, POLLOUT, 0 };
	int got = poll(&one, 1, timeout);

	say("poll %d [%s]", got, events(one.revents));
	return got;
}

static int peer_port(int fd)
{
	struct sockaddr_in name;
	socklen_t length = sizeof name;

	return getpeername(fd, (struct sockaddr *)&name, &length) ? -1 : ntohs(name.sin_port);
}

static void success(int server)
{
	int client = fresh(SOCK_NONBLOCK), peer;
	struct dialer dialer;
	char byte;

	TITLE("non-blocking");
	SAY(send(client, "x", 1, MSG_NOSIGNAL));
	SAY(recv(client, &byte, 1, 0));
	SAY(getpeername(client, (struct sockaddr *)&(struct sockaddr_in){ 0 }, &(socklen_t){ 16 }));
	SAY(connect_to(client, HERE, port));
	if (!readable(server, 5000))
		say("no client");
	peer = SAY_FD(accept(server, NULL, NULL));
	wait_out(client, 5000);
	say("SO_ERROR %d", error_of(client));
	say("peer port right: %d", peer_port(client) == port);
	say("own port is the peer's: %d", port_of(client) == peer_port(peer));
	SAY(connect_to(client, HERE, port));
	SAY(recv(client, &byte, 1, 0));
	ping(client, peer);
	close(client), close(peer);

	TITLE("blocking");
	dial(&dialer, port);
	peer = SAY_FD(accept(server, NULL, NULL));
	client = dialed(&dialer);
	SAY(connect_to(client, HERE, port));
	SAY(listen(client, 1));
	SAY(bind_to(client, HERE, 0));
	ping(client, peer);
	close(client), close(peer);
}

static void *late_accept(void *arg)
{
	nap(300);
	return (void *)(long)accept(*(int *)arg, NULL, NULL);
}

/* The connect ends before, or with, the accept: in both worlds the first bytes arrive. */
static void write_first(int server)
{
	int client = fresh(0);
	pthread_t thread;
	void *peer;
	char text[6] = "";

	TITLE("connect, write and close before the accept");
	pthread_create(&thread, NULL, late_accept, &server);
	SAY(connect_to(client, HERE, port));
	SAY(send(client, "first", 5, 0));
	SAY(close(client));
	pthread_join(thread, &peer);
	SAY(read_all((int)(long)peer, text, 5));
	say("%s", text);
	SAY(recv((int)(long)peer, text, 1, 0));
	close((int)(long)peer);
}

static void bound(int server)
{
	int client = fresh(0), peer, on = 1, own;
	struct sockaddr_in name = { 0 };

	TITLE("from a bound address");
	SAY(setsockopt(client, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
	SAY(bind_to(client, HERE, 0));
	own = port_of(client);
	say("a port: %d", own > 0);
	MUST(fcntl(client, F_SETFL, O_NONBLOCK));
	SAY(connect_to(client, HERE, port));
	if (!readable(server, 5000))
		say("no client");
	peer = MUST(accept(server, (struct sockaddr *)&name, &(socklen_t){ sizeof name }));
	wait_out(client, 5000);
	say("the port stays: %d, the peer sees it: %d, from %s", port_of(client) == own, ntohs(name.sin_port) == own,
	    inet_ntoa(name.sin_addr));
	ping(client, peer);
	close(client), close(peer);
}

static void refused(void)
{
	int gone = listener(1), nobody = port_of(gone), client = fresh(0);

	TITLE("refused");
	close(gone);
	SAY(connect_to(client, HERE, nobody));
	say("SO_ERROR %d", error_of(client));
	SAY(getpeername(client, (struct sockaddr *)&(struct sockaddr_in){ 0 }, &(socklen_t){ 16 }));
	SAY(connect_to(client, HERE, nobody));
	close(client);
	client = fresh(SOCK_NONBLOCK);
	SAY(connect_to(client, HERE, nobody));
	wait_out(client, 5000);
	say("SO_ERROR %s", errno_name(error_of(client)));
	say("SO_ERROR %d", error_of(client));
	close(client);
	client = fresh(SOCK_NONBLOCK);
	SAY(connect_to(client, HERE, nobody));
	wait_out(client, 5000);
	SAY(send(client, "x", 1, MSG_NOSIGNAL));
	SAY(send(client, "x", 1, MSG_NOSIGNAL));
	close(client);
}

/* After a refused connect the same socket finds a server that came up. */
static void again(int server)
{
	int gone = listener(1), nobody = port_of(gone), client = fresh(0);
	pthread_t thread;
	void *peer;

	TITLE("refused, then connected");
	close(gone);
	SAY(connect_to(client, HERE, nobody));
	pthread_create(&thread, NULL, late_accept, &server);
	SAY(connect_to(client, HERE, port));
	pthread_join(thread, &peer);
	ping(client, (int)(long)peer);
	close(client), close((int)(long)peer);
}

static void nobody(void)
{
	int client = fresh(SOCK_NONBLOCK);
	struct timeval limit = { 0, 300000 };
	double start;

	TITLE("to an address that does not answer");
	SAY(connect_to(client, NOBODY, 9999));
	SAY(connect_to(client, NOBODY, 9999));
	wait_out(client, 300);
	say("SO_ERROR %d", error_of(client));
	SAY(send(client, "x", 1, MSG_NOSIGNAL));
	SAY(recv(client, &(char){ 0 }, 1, 0));
	SAY(close(client));
	client = fresh(0);
	SAY(setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
	start = now();
	SAY(connect_to(client, NOBODY, 9999));
	say("%s", in_time(start, 0.3));
	SAY(close(client));
}

static void wrong(void)
{
	int client = fresh(0);
	struct sockaddr_in name = ipv4(HERE, port);
	struct sockaddr_in6 six = ipv6(HERE6, port);

	TITLE("wrong addresses");
	SAY(connect(client, (struct sockaddr *)&name, 4));
	name.sin_family = 99;
	SAY(connect(client, (struct sockaddr *)&name, sizeof name));
	SAY(connect(client, (struct sockaddr *)&six, sizeof six));
	SAY(connect(client, NULL, sizeof name));
	SAY(connect(-1, (struct sockaddr *)&name, sizeof name));
	SAY(connect(0, (struct sockaddr *)&name, sizeof name));
	SAY(bind_to(client, "10.99.0.1", 0));
	close(client);
	SAY(connect_to(client, HERE, port));
}

int main(void)
{
	int server = listener(8);

	port = port_of(server);
	success(server);
	write_first(server);
	bound(server);
	refused();
	again(server);
	nobody();
	wrong();
	close(server);
	return 0;
}
