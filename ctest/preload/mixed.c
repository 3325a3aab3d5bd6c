// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One side preloaded, the other not: clients of both kinds on one listener at once, and a server without.
 * rdma: 12
 */
#include "others.h"

/* A server in one thread, over poll, epoll or blocking, for COUNT clients. */
static void serve(int server, int count, const char *how)
{
	int set = epoll_create1(0), good = 0;

	if (*how == 'e')
		epoll_ctl(set, EPOLL_CTL_ADD, server, &(struct epoll_event){ .events = EPOLLIN });
	for (int i = 0; i < count; i++) {
		struct pollfd one = { server, POLLIN, 0 };
		struct epoll_event event;
		int fd;

		if ((*how == 'p' && poll(&one, 1, 10000) != 1) || (*how == 'e' && epoll_wait(set, &event, 1, 10000) != 1))
			break;
		fd = accept(server, NULL, NULL);
		if (fd < 0)
			break;
		good += echo(fd) > 0;
		close(fd);
	}
	say("%s: %d served", how, good);
	close(set);
}

static void clients_of_both(const char *how)
{
	int server = listener(16), port = port_of(server);
	pid_t pids[6];

	for (int i = 0; i < 6; i++)
		pids[i] = start("client", port, i % 2);
	serve(server, 6, how);
	for (int i = 0; i < 6; i++)
		say("client: %d", exit_of(pids[i]));
	close(server);
}

/* Over TCP alone, and without a wait that anyone would notice. */
static void plain_server(void)
{
	int probe = listener(1), port = port_of(probe), fd;
	double begin;
	pid_t pid;

	close(probe);
	pid = start("server", port, 1);
	for (int i = 0; i < 100; i++) {
		nap(30);
		begin = now();
		fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
		if (connect_to(fd, HERE, port) == 0)
			break;
		close(fd);
	}
	say("connected %s", in_time(begin, 0));
	MUST(write(fd, "x", 1));
	say("echo %ld", (long)recv(fd, &(char){ 0 }, 1, 0));
	MUST(shutdown(fd, SHUT_WR));
	say("end %ld", (long)recv(fd, &(char){ 0 }, 1, 0));
	close(fd);

	fd = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	begin = now();
	SAY(connect_to(fd, HERE, port));
	struct pollfd one = { fd, POLLOUT, 0 };
	SAY(poll(&one, 1, 10000));
	say("[%s] %s", events(one.revents), in_time(begin, 0));
	SAY(connect_to(fd, HERE, port));
	MUST(write(fd, "x", 1));
	one.events = POLLIN;
	SAY(poll(&one, 1, 10000));
	close(fd);

	TITLE("epoll");
	int set = MUST(epoll_create1(0));
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	fd = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	SAY(connect_to(fd, HERE, port));
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	SAY(epoll_wait(set, &event, 1, 10000));
	say("[%s]", events(event.events));
	MUST(write(fd, "x", 1));
	SAY(epoll_wait(set, &event, 1, 10000));
	say("in %d", !!(event.events & EPOLLIN));
	SAY(getpeername(fd, (struct sockaddr *)&(struct sockaddr_in){ 0 }, &(socklen_t){ 16 }));
	close(fd), close(set);
	kill(pid, SIGKILL);
	exit_of(pid);
}

static int server_role(int port)
{
	int server = socket(AF_INET, SOCK_STREAM, 0), on = 1, before = 0;

	alarm(20);
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind_to(server, HERE, port) || listen(server, 4))
		return 1;
	for (;;) {
		int fd = accept(server, NULL, NULL);

		/* A client over RDMA must not come a second time over TCP: bytes from each. */
		before += echo(fd) > 0;
		close(fd);
	}
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2 && *argv[1] == 'c')
		return echo_client(atoi(argv[2]), 20000);
	if (argc > 2)
		return server_role(atoi(argv[2]));
	TITLE("clients of both kinds");
	clients_of_both("blocking");
	clients_of_both("poll");
	clients_of_both("epoll");
	TITLE("a server without");
	plain_server();
	return 0;
}
