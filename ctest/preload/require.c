// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* RS_REQUIRE_RDMA=1: no connection falls back to TCP; the error of the RDMA side is told.
 * native: no
 * env: RS_REQUIRE_RDMA=1
 * env: RS_CONNECT_TIMEOUT_MS=500
 * fake: peer 10.77.0.9
 */
#include "check.h"

/* A listener of the kernel's alone: what a server without the preload library has. */
static int plain_listener(const char *host, pid_t *pid)
{
	int pipes[2], port = 0;

	MUST(pipe(pipes));
	*pid = MUST(fork());
	if (*pid == 0) {
		char number[8];

		unsetenv("LD_PRELOAD");
		dup2(pipes[1], 1);
		snprintf(number, sizeof number, "%d", getpid());
		execl("/proc/self/exe", "require", host, NULL);
		_exit(1);
	}
	close(pipes[1]);
	MUST(read(pipes[0], &port, sizeof port));
	close(pipes[0]);
	return port;
}

static int serve_plain(const char *host)
{
	int server = socket(AF_INET, SOCK_STREAM, 0), port;

	alarm(20);
	bind_to(server, host, 0);
	listen(server, 4);
	port = port_of(server);
	write(1, &port, sizeof port);
	while (accept(server, NULL, NULL) >= 0)
		;
	return 1;
}

int main(int argc, char **argv)
{
	int fds[2], fd, port, set;
	struct pollfd one;
	struct epoll_event event = { .events = EPOLLOUT };
	double start;
	pid_t pid;

	if (argc > 1)
		return serve_plain(argv[1]);
	TITLE("an RDMA peer");
	pair(fds);
	ping(fds[0], fds[1]);
	/* Its notices could never come. */
	FAILS(setsockopt(fds[0], SOL_SOCKET, SO_ZEROCOPY, &(int){ 1 }, sizeof(int)), EOPNOTSUPP);
	close(fds[0]), close(fds[1]);

	TITLE("a peer with TCP only");
	port = plain_listener(HERE, &pid);
	CHECK(port > 0);
	fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
	FAILS(connect_to(fd, HERE, port), ECONNREFUSED);
	FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	close(fd);
	fd = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	FAILS(connect_to(fd, HERE, port), EINPROGRESS);
	one = (struct pollfd){ fd, POLLOUT, 0 };
	CHECK(poll(&one, 1, 5000) == 1);
	CHECK(one.revents & POLLERR);
	CHECK(error_of(fd) == ECONNREFUSED);
	close(fd);
	fd = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	set = MUST(epoll_create1(0));
	CHECK(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0);
	FAILS(connect_to(fd, HERE, port), EINPROGRESS);
	CHECK(epoll_wait(set, &event, 1, 5000) == 1);
	CHECK(error_of(fd) == ECONNREFUSED);
	close(fd), close(set);
	kill(pid, SIGKILL);
	exit_of(pid);

	TITLE("an address without a device");
	port = plain_listener("127.0.0.1", &pid);
	fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
	CHECK(connect_to(fd, "127.0.0.1", port) < 0);
	say("# %s", errno_name(errno));
	close(fd);
	kill(pid, SIGKILL);
	exit_of(pid);

	TITLE("a peer that does not answer");
	fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
	start = now();
	FAILS(connect_to(fd, NOBODY, 7777), ETIMEDOUT);
	/* The soft device tells at once that the address is unreachable: only the upper limit counts here. */
	CHECK(now() - start < 1.5);
	close(fd);
	return failures != 0;
}
