// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The peer is killed: data that it sent is read, then the connection ends in a bounded time, for readers, writers and
 * waiters.
 * rdma: 8
 */
#include "others.h"

static int victim(int port)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	alarm(20);
	if (connect_to(fd, HERE, port))
		return 1;
	write_all(fd, "last words", 10);
	pause();
	return 0;
}

static int meet(int server, pid_t *pid)
{
	int fd;
	char room[10];

	*pid = start("victim", port_of(server), 0);
	fd = MUST(accept(server, NULL, NULL));
	if (read_all(fd, room, 10) != 10)
		say("no last words");
	return fd;
}

/* An end or a reset: both say that the peer is gone. */
static const char *ended(long n)
{
	return n == 0 || (n < 0 && (errno == ECONNRESET || errno == EPIPE)) ? "ended" : "not ended";
}

int main(int argc, char **argv)
{
	int server, fd, set;
	struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP };
	static char block[65536];
	char byte;
	pid_t pid;
	long n;

	self = argv[0];
	if (argc > 2)
		return victim(atoi(argv[2]));
	server = listener(4);
	TITLE("a reader");
	fd = meet(server, &pid);
	kill(pid, SIGKILL);
	n = recv(fd, &byte, 1, 0);
	say("%s", ended(n));
	say("%d", exit_of(pid));
	close(fd);
	TITLE("a poll");
	fd = meet(server, &pid);
	kill(pid, SIGKILL);
	say("%d", readable(fd, 10000));
	say("%s", ended(recv(fd, &byte, 1, 0)));
	exit_of(pid);
	close(fd);
	TITLE("an epoll");
	fd = meet(server, &pid);
	set = MUST(epoll_create1(0));
	MUST(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	kill(pid, SIGKILL);
	SAY(epoll_wait(set, &event, 1, 10000));
	say("%s", ended(recv(fd, &byte, 1, 0)));
	exit_of(pid);
	close(fd), close(set);
	TITLE("a writer that waits");
	fd = meet(server, &pid);
	MUST(fcntl(fd, F_SETFL, O_NONBLOCK));
	while (send(fd, block, sizeof block, MSG_NOSIGNAL) > 0)
		;
	MUST(fcntl(fd, F_SETFL, 0));
	kill(pid, SIGKILL);
	do
		n = send(fd, block, sizeof block, MSG_NOSIGNAL);
	while (n > 0);
	say("%s", ended(n));
	exit_of(pid);
	close(fd);
	close(server);
	return 0;
}
