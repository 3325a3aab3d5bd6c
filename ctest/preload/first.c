// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* P-1: the first socket call of a process is one on a descriptor that it inherited or got from socketpair; each in a
 * program of its own. No connection of these can be the library's.
 * rdma: 0
 * over-c: yes
 */
#include "common.h"

static int fds[2];

static void child(const char *what)
{
	char byte = 'x';
	struct sockaddr_storage name;
	socklen_t length = sizeof name;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct pollfd one = { 0, POLLIN, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	struct timeval none = { 0, 0 };
	fd_set in;
	int on = 1;

	FD_ZERO(&in);
	FD_SET(0, &in);
	switch (*what) {
	case 'a': SAY(send(0, &byte, 1, 0)); break;
	case 'b': SAY(recv(0, &byte, 1, MSG_DONTWAIT)); break;
	case 'c': SAY(getpeername(0, (struct sockaddr *)&name, &length)); break;
	case 'd': SAY(getsockname(0, (struct sockaddr *)&name, &length)); break;
	case 'e': SAY(setsockopt(0, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on)); break;
	case 'f': SAY(getsockopt(0, SOL_SOCKET, SO_TYPE, &on, &length)); break;
	case 'g': SAY(shutdown(0, SHUT_WR)); break;
	case 'h': SAY(sendmsg(0, &message, 0)); break;
	case 'i': SAY(recvmsg(0, &message, MSG_DONTWAIT)); break;
	case 'j': SAY(poll(&one, 1, 0)); break;
	case 'k': SAY(select(1, &in, NULL, NULL, &none)); break;
	case 'l': SAY(epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, 0, &event)); break;
	case 'm': SAY(fcntl(0, F_GETFL) & O_ACCMODE); break;
	case 'n': SAY(ioctl(0, FIONREAD, &on)); break;
	case 'o': SAY(listen(0, 1)); break;
	case 'p': SAY(accept(0, NULL, NULL)); break;
	case 'q': SAY_FD(dup(0)); break;
	case 'r': SAY(close(0)); break;
	case 's': SAY(write(0, &byte, 1)); break;
	case 't': SAY(sendto(0, &byte, 1, 0, NULL, 0)); break;
	case 'u': SAY(close_range(0, 0, 0)); break;
	case 'v': SAY(epoll_wait(0, &event, 1, 0)); break;
	case 'w': SAY(bind_to(0, HERE, 0)); break;
	case 'x': SAY(connect_to(0, HERE, 1)); break;
	case 'y': SAY(accept4(0, NULL, NULL, 0)); break;
	case 'z': SAY(recvfrom(0, &byte, 1, MSG_DONTWAIT, NULL, NULL)); break;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	char what[2] = "a";

	if (argc > 1)
		child(argv[1]);
	for (; *what <= 'z'; ++*what) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
		pid_t pid = fork();
		if (pid == 0) {
			dup2(fds[0], 0);
			execl(argv[0], argv[0], what, NULL);
			_exit(9);
		}
		close(fds[0]);
		say("%s: exit %d", what, exit_of(pid));
		close(fds[1]);
	}
	return 0;
}
