// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* System calls that a program makes by syscall(2), as libuv does: each is the function of its name.
 * rdma: 12
 */
#include "common.h"
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char buf[100];

static void ends(void)
{
	int fds[2], server = listener(8), port = port_of(server), late;

	TITLE("close");
	pair_of(server, fds);
	SAY(syscall(SYS_close, fds[0]));
	say("readable: %d", readable(fds[1], 3000));
	SAY(recv(fds[1], buf, 1, 0));
	SAY(syscall(SYS_close, fds[0]));
	close(fds[1]);
	pair_of(server, fds);
	SAY(syscall(SYS_close_range, fds[0], fds[0], 0));
	SAY(recv(fds[1], buf, 1, 0));
	close(fds[1]);
	SAY(syscall(SYS_close, server));
	late = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SAY(connect_to(late, HERE, port));
	close(late);
}

static void bytes(void)
{
	struct iovec part = { buf, 4 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct mmsghdr several[2] = { { .msg_hdr = message }, { .msg_hdr = message } };
	int fds[2], copy;

	TITLE("bytes");
	pair(fds);
	SAY(syscall(SYS_write, fds[0], "1234", 4L));
	SAY(syscall(SYS_read, fds[1], buf, 4L));
	SAY(syscall(SYS_sendto, fds[0], "1234", 4L, 0, NULL, 0));
	SAY(syscall(SYS_recvfrom, fds[1], buf, 4L, 0, NULL, NULL));
	SAY(syscall(SYS_sendmsg, fds[0], &message, 0));
	SAY(syscall(SYS_recvmsg, fds[1], &message, 0));
	SAY(syscall(SYS_sendmmsg, fds[0], several, 2, 0));
	say("%u %u", several[0].msg_len, several[1].msg_len);
	SAY(syscall(SYS_recvmmsg, fds[1], several, 2, 0, NULL));
	say("%u %u", several[0].msg_len, several[1].msg_len);
	SAY(syscall(SYS_writev, fds[0], &part, 1));
	SAY(syscall(SYS_readv, fds[1], &part, 1));
	SAY(syscall(SYS_pwritev2, fds[0], &part, 1, -1L, 0, 0));
	SAY(syscall(SYS_preadv2, fds[1], &part, 1, -1L, 0, 0));
	copy = MUST(syscall(SYS_dup, fds[0]));
	close(fds[0]);
	SAY(syscall(SYS_write, copy, "1234", 4L));
	SAY(syscall(SYS_read, fds[1], buf, 100L));
	SAY(syscall(SYS_fcntl, fds[1], F_SETFL, (long)O_NONBLOCK));
	SAY(recv(fds[1], buf, 1, 0));
	SAY(syscall(SYS_shutdown, copy, SHUT_WR));
	say("readable: %d", readable(fds[1], 3000));
	SAY(recv(fds[1], buf, 1, 0));
	close(copy), close(fds[1]);
}

static void names(void)
{
	int fds[2], value = 0;
	socklen_t size = sizeof value, length = sizeof(struct sockaddr_in);
	struct sockaddr_in peer = { 0 };

	TITLE("names and options");
	pair(fds);
	SAY(syscall(SYS_getpeername, fds[0], &peer, &length));
	say("%d %d", peer.sin_family, (int)length);
	value = 1;
	SAY(syscall(SYS_setsockopt, fds[0], IPPROTO_TCP, TCP_NODELAY, &value, sizeof value));
	value = 0;
	SAY(syscall(SYS_getsockopt, fds[0], IPPROTO_TCP, TCP_NODELAY, &value, &size));
	say("%d", value);
	close(fds[0]), close(fds[1]);
}

static void readiness(void)
{
	struct timespec second = { 1, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	unsigned long mask = 0;
	struct {
		unsigned long *mask;
		size_t size;
	} pair_of_mask = { &mask, sizeof mask };
	fd_set set;
	int fds[2], instance = MUST(epoll_create1(0));

	TITLE("readiness");
	pair(fds);
	struct pollfd place = { fds[1], POLLIN, 0 };
	SAY(syscall(SYS_epoll_ctl, instance, EPOLL_CTL_ADD, fds[1], &event));
	SAY(syscall(SYS_epoll_pwait, instance, &event, 1, 0, NULL, 8L));
	MUST(send(fds[0], "x", 1, 0));
	SAY(syscall(SYS_epoll_pwait, instance, &event, 1, 3000, &mask, sizeof mask));
	SAY(syscall(SYS_ppoll, &place, 1L, &second, &mask, sizeof mask));
	say("%s", events(place.revents));
	FD_ZERO(&set);
	FD_SET(fds[1], &set);
	second = (struct timespec){ 1, 0 };
	SAY(syscall(SYS_pselect6, fds[1] + 1, &set, NULL, NULL, &second, &pair_of_mask));
	say("%d", FD_ISSET(fds[1], &set));
	close(fds[0]), close(fds[1]), close(instance);
}

static void processes(void)
{
	int fds[2], status, server;
	pid_t child;

	TITLE("a fork of its own");
	pair(fds);
	child = syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child) {
		long sent = write(fds[0], "child", 5);

		syscall(SYS_exit_group, sent == 5 ? 7 : 8);
	}
	waitpid(child, &status, 0);
	say("the child ended with %d", WEXITSTATUS(status));
	say("%ld", read_all(fds[1], buf, 5));
	close(fds[0]);
	SAY(recv(fds[1], buf, 1, 0));
	close(fds[1]);

	/* As vsftpd does for each client. */
	TITLE("a child in namespaces of its own");
	server = listener(8);
	pair_of(server, fds);
	child = syscall(SYS_clone, (long)(SIGCHLD | CLONE_NEWUTS | CLONE_NEWPID), NULL, NULL, NULL, NULL);
	if (!child) {
		struct sockaddr_in own, peer;
		socklen_t length = sizeof own;
		int good;

		close(server);
		dup2(fds[0], 0);
		close(fds[0]), close(fds[1]);
		good = getpid() == 1 && !setgid(getgid()) && read(0, buf, 6) == 6 && !getsockname(0, (void *)&own, &length) &&
		       !getpeername(0, (void *)&peer, &length) && own.sin_addr.s_addr == peer.sin_addr.s_addr &&
		       write(0, "child", 5) == 5 && read(0, buf, 1) == 0;
		fds[0] = socket(AF_INET, SOCK_STREAM, 0);
		good = good && !bind_to(fds[0], HERE, 0) && !listen(fds[0], 1) && !readable(fds[0], 0);
		_exit(good ? 7 : 8);
	}
	close(fds[0]);
	MUST(send(fds[1], "parent", 6, 0));
	say("%ld", read_all(fds[1], buf, 5));
	SAY(shutdown(fds[1], SHUT_WR));
	waitpid(child, &status, 0);
	say("the child ended with %d", WEXITSTATUS(status));
	SAY(waitpid(-1, NULL, WNOHANG));
	SAY(recv(fds[1], buf, 1, 0));
	close(fds[1]);
	TITLE("the parent goes on");
	pair_of(server, fds);
	ping(fds[0], fds[1]);
	close(fds[0]), close(fds[1]), close(server);

	TITLE("no call of ours");
	say("%d", syscall(SYS_getpid) == getpid());
	SAY(syscall(-1L));
	SAY(syscall(SYS_read, -1, buf, 1L));
	SAY(syscall(SYS_close, -1));
}

int main(void)
{
	ends();
	bytes();
	names();
	readiness();
	processes();
	return 0;
}
