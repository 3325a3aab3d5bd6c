/* The other side listens for RDMA but never answers: after RS_CONNECT_TIMEOUT_MS the connection goes over TCP, with all
 * that was set before, however the program waits for it.
 * rdma: 0
 * env: RS_CONNECT_TIMEOUT_MS=400
 * fake: drop CONNECT_REQUEST always
 */
#include "common.h"

static int server, port;

static int fresh(int flags)
{
	return MUST(socket(AF_INET, SOCK_STREAM | flags, 0));
}

static void used(int client)
{
	int peer = MUST(accept(server, NULL, NULL));

	ping(client, peer);
	close(client), close(peer);
}

int main(void)
{
	int client, on = 1, error = -1, size = 0, own, set;
	struct timeval limit = { 7, 0 }, wait = { 5, 0 };
	struct epoll_event event = { .events = EPOLLOUT | EPOLLET, .data.u32 = 4 };
	struct pollfd one;
	fd_set out;

	server = listener(8);
	port = port_of(server);
	TITLE("blocking, with options and a port of its own");
	client = fresh(0);
	SAY(bind_to(client, HERE, 0));
	own = port_of(client);
	SAY(setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
	SAY(setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
	SAY(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	size = 50000;
	SAY(setsockopt(client, SOL_SOCKET, SO_SNDBUF, &size, sizeof size));
	SAY(connect_to(client, HERE, port));
	say("the port stays: %d", port_of(client) == own);
	on = 0;
	getsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, &(socklen_t){ sizeof on });
	getsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, &(socklen_t){ sizeof limit });
	getsockopt(client, SOL_SOCKET, SO_SNDBUF, &size, &(socklen_t){ sizeof size });
	say("NODELAY %d, RCVTIMEO %ld, SNDBUF %d", on, (long)limit.tv_sec, size);
	used(client);

	TITLE("poll");
	client = fresh(SOCK_NONBLOCK);
	SAY(connect_to(client, HERE, port));
	one = (struct pollfd){ client, POLLOUT | POLLIN, 0 };
	SAY(poll(&one, 1, 5000));
	say("[%s]", events(one.revents));
	getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
	say("SO_ERROR %d", error);
	MUST(fcntl(client, F_SETFL, 0));
	used(client);

	TITLE("select");
	client = fresh(SOCK_NONBLOCK);
	SAY(connect_to(client, HERE, port));
	FD_ZERO(&out);
	FD_SET(client, &out);
	SAY(select(client + 1, NULL, &out, NULL, &wait));
	MUST(fcntl(client, F_SETFL, 0));
	used(client);

	TITLE("epoll, registered before");
	set = MUST(epoll_create1(0));
	client = fresh(SOCK_NONBLOCK);
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, client, &event));
	epoll_wait(set, &event, 1, 0);
	SAY(connect_to(client, HERE, port));
	SAY(epoll_wait(set, &event, 1, 5000));
	say("[%s] data %u", events(event.events), event.data.u32);
	MUST(fcntl(client, F_SETFL, 0));
	used(client);
	client = fresh(SOCK_NONBLOCK);
	SAY(connect_to(client, HERE, port));
	event = (struct epoll_event){ .events = EPOLLOUT | EPOLLIN, .data.u32 = 5 };
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, client, &event));
	SAY(epoll_wait(set, &event, 1, 5000));
	say("[%s] data %u", events(event.events), event.data.u32);
	MUST(fcntl(client, F_SETFL, 0));
	used(client);

	TITLE("asked with getsockopt and send alone");
	client = fresh(SOCK_NONBLOCK);
	SAY(connect_to(client, HERE, port));
	long n = -1;
	for (int i = 0; i < 100 && n != 1; i++, nap(30)) {
		getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
		n = send(client, "s", 1, MSG_NOSIGNAL);
	}
	say("SO_ERROR %d, sent %ld", error, n);
	int peer = MUST(accept(server, NULL, NULL));
	SAY(recv(peer, &(char){ 0 }, 1, 0));
	MUST(fcntl(client, F_SETFL, 0));
	ping(client, peer);
	close(client), close(peer), close(server), close(set);
	return 0;
}
