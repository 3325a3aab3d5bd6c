// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections that are used by what the preload library does not see: dprintf, standard output, programs that are
 * run with them, other processes that get the descriptor.
 * rdma: 18
 */
#include "others.h"

static void by_vdprintf(int fd, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	SAY(vdprintf(fd, format, list));
	va_end(list);
}

static void printed(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 7 };
	int fds[2], set = MUST(epoll_create1(0));
	char text[40] = "";

	TITLE("dprintf");
	pair(fds);
	MUST(send(fds[1], "before", 6, 0));
	SAY(epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
	SAY(dprintf(fds[0], "%s %d %.2f %c %ld %x %s %g\n", "a line", 5, 1.5, 'x', 123456789012L, 255, "and", 0.25));
	by_vdprintf(fds[0], "%d %s %.1f\n", 1, "more", 2.5);
	SAY(dprintf(fds[0], "%s", ""));
	SAY(dprintf(-1, "nobody"));
	SAY(epoll_wait(set, &event, 1, 5000));
	SAY(read_all(fds[0], text, 6));
	say("%s", text);
	MUST(send(fds[0], "by send", 7, 0));
	MUST(send(fds[1], "after", 5, 0));
	SAY(epoll_wait(set, &event, 1, 5000));
	say("[%s] %u", events(event.events), event.data.u32);
	SAY(recv(fds[0], text, 5, 0));
	SAY(shutdown(fds[0], SHUT_WR));
	until_end(fds[1]);
	SAY(close(fds[1]));
	SAY(recv(fds[0], text, 5, 0));
	close(fds[0]), close(set);
}

static void standard_output(void)
{
	int fds[2], saved = MUST(dup(1));

	TITLE("standard output");
	pair(fds);
	fflush(stdout);
	MUST(dup2(fds[0], 1));
	printf("by printf\n");
	fflush(stdout);
	system("echo by system");
	write(1, "by write\n", 9);
	MUST(dup2(saved, 1));
	close(fds[0]), close(saved);
	until_end(fds[1]);
	close(fds[1]);
}

/* As inetd: the connection is the standard input and output of a program that knows nothing. */
static void executed(void)
{
	int fds[2];
	pid_t pid;

	TITLE("a program of its own");
	pair(fds);
	pid = MUST(fork());
	if (pid == 0) {
		dup2(fds[0], 0);
		dup2(fds[0], 1);
		closefrom(3);
		execl("/usr/bin/sort", "sort", NULL);
		_exit(9);
	}
	close(fds[0]);
	MUST(send(fds[1], "b\na\nc\n", 6, 0));
	MUST(shutdown(fds[1], SHUT_WR));
	until_end(fds[1]);
	say("exit %d", exit_of(pid));
	close(fds[1]);
}

static int receive_fd(int from)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control;
	struct iovec part = { &(char){ 0 }, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
	int fd;

	MUST(recvmsg(from, &message, 0));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
	return fd;
}

static void send_fd(int to, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = { 0 };
	struct iovec part = { "f", 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	SAY(sendmsg(to, &message, 0));
}

/* A worker that is older than its connections. */
static void handed_over(void)
{
	int fds[2], way[2];
	pid_t pid;

	TITLE("handed to another process");
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, way));
	fflush(stdout);
	pid = MUST(fork());
	if (pid == 0) {
		close(way[0]);
		for (int i = 0; i < 3; i++) {
			int fd = receive_fd(way[1]);

			echo(fd);
			close(fd);
		}
		_exit(0);
	}
	close(way[1]);
	for (int i = 0; i < 3; i++) {
		pair(fds);
		MUST(send(fds[1], "early ", 6, 0));
		send_fd(way[0], fds[0]);
		close(fds[0]);
		MUST(send(fds[1], "late", 4, 0));
		MUST(shutdown(fds[1], SHUT_WR));
		until_end(fds[1]);
		close(fds[1]);
	}
	say("exit %d", exit_of(pid));
	close(way[0]);
}

enum { MUCH = 300000 };

/* Writes more than the buffers between hold, and is gone. */
static int leave_at_once(int port)
{
	int fd = MUST(socket(AF_INET, SOCK_STREAM, 0));

	MUST(connect_to(fd, HERE, port));
	dprintf(fd, "%0*d", MUCH, 7);
	return 0;
}

static void leaving(void)
{
	static char room[MUCH + 1];
	int server = listener(1), fd;
	pid_t pid;

	TITLE("written and left");
	pid = start("leave", port_of(server), 0);
	fd = MUST(accept(server, NULL, NULL));
	nap(200);
	SAY(read_all(fd, room, MUCH + 1));
	say("%c%c, exit %d", room[0], room[MUCH - 1], exit_of(pid));
	close(fd), close(server);
}

/* The first of two children waits; it hears the end of its connection although the second lives. */
static void siblings(void)
{
	int server = listener(2), first[2], second[2], one, two, done[2];
	char byte;

	TITLE("two children");
	MUST(pipe(done));
	pair_of(server, first);
	fflush(stdout);
	one = MUST(fork());
	if (one == 0) {
		alarm(10);
		close(first[1]);
		MUST(send(first[0], "1", 1, 0));
		_exit(recv(first[0], &byte, 1, 0) == 0 ? 0 : 1);
	}
	close(first[0]);
	MUST(recv(first[1], &byte, 1, 0));
	pair_of(server, second);
	two = MUST(fork());
	if (two == 0) {
		alarm(10);
		close(first[1]), close(second[1]), close(done[1]);
		MUST(send(second[0], "2", 1, 0));
		read(done[0], &byte, 1);
		_exit(0);
	}
	close(second[0]), close(done[0]);
	MUST(recv(second[1], &byte, 1, 0));
	close(first[1]);
	say("first %d", exit_of(one));
	close(done[1]);
	say("second %d", exit_of(two));
	close(second[1]), close(server);
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2)
		return leave_at_once(atoi(argv[2]));
	printed();
	standard_output();
	executed();
	handed_over();
	leaving();
	siblings();
	return 0;
}
