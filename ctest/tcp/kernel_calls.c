// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Calls that rsockets do not have by name: natively and under the preload library. */
#include "sockets.h"

#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <linux/sockios.h>

SCENARIO(kernel_descriptors, .kernel_only = 1, .pairs = 2)
{
	struct stat status;
	int fds[2], copy;

	pair(fds);
	copy = CHECK_FD("dup", dup(fds[0]));
	CHECK("dup.send", call.send(copy, "hello", 5, 0));
	settle(fds[1], POLLIN);
	check_receive("dup.recv", fds[1], 16, 0);
	CHECK("close.first", call.close(fds[0]));
	nap(20);
	check_events("peer", fds[1]);
	CHECK("send.second", call.send(copy, "world", 5, 0));
	settle(fds[1], POLLIN);
	check_receive("recv.second", fds[1], 16, 0);
	CHECK("dup2.same", dup2(copy, copy) == copy ? 0 : -1);
	CHECK("dup2.over", dup2(copy, fds[0]) == fds[0] ? 0 : -1);
	CHECK("dup3.same", dup3(copy, copy, 0));
	CHECK("dup3.flags", dup3(copy, 100, 1));
	CHECK("close.second", call.close(copy));
	CHECK("close.last", call.close(fds[0]));
	settle(fds[1], POLLIN | POLLRDHUP);
	check_receive("end", fds[1], 16, 0);
	CHECK("fstat", fstat(fds[1], &status));
	check("fstat.type", "%s", S_ISSOCK(status.st_mode) ? "socket" : "another");
	CHECK("lseek", lseek(fds[1], 0, SEEK_CUR));
	CHECK("pread", pread(fds[1], &copy, 1, 0));
	CHECK("pwrite", pwrite(fds[1], &copy, 1, 0));
	CHECK("fsync", fsync(fds[1]));
	CHECK("ftruncate", ftruncate(fds[1], 0));
}

static void check_ioctl(const char *name, int fd, unsigned long request)
{
	int value = 0, result = ioctl(fd, request, &value);

	if (result)
		check_result(name, result, errno);
	else
		check(name, "0 %d", value);
}

SCENARIO(kernel_ioctl, .kernel_only = 1, .pairs = 2)
{
	int fds[2], on = 1;

	pair(fds);
	check_ioctl("fionread.empty", fds[1], FIONREAD);
	check_ioctl("outq.empty", fds[0], SIOCOUTQ);
	deliver(fds[0], fds[1], "hello");
	check_ioctl("fionread", fds[1], FIONREAD);
	check_ioctl("atmark", fds[1], SIOCATMARK);
	check_receive("recv", fds[1], 2, 0);
	check_ioctl("fionread.rest", fds[1], FIONREAD);
	CHECK("fionbio", ioctl(fds[0], FIONBIO, &on));
	check_receive("nonblocking", fds[0], 1, 0);
	check("getfl", "%d", !!(call.fcntl(fds[0], F_GETFL) & O_NONBLOCK));
	on = 0;
	CHECK("fionbio.off", ioctl(fds[0], FIONBIO, &on));
	check("getfl.off", "%d", !!(call.fcntl(fds[0], F_GETFL) & O_NONBLOCK));
	CHECK("fioclex", ioctl(fds[0], FIOCLEX));
	check("getfd", "%d", call.fcntl(fds[0], F_GETFD));
	CHECK("unknown", ioctl(fds[0], 0x7777, &on));
	CHECK("tcgets", ioctl(fds[0], TCGETS, &(char[256]){ 0 }));
	check("isatty", "%d", isatty(fds[0]));
	MUST(call.shutdown(fds[0], SHUT_WR));
	nap(20);
	check_ioctl("fionread.end", fds[1], FIONREAD);
	drain(fds[1]);
	check_ioctl("fionread.drained", fds[1], FIONREAD);
	check_ioctl("fionread.listener", listener(2), FIONREAD);
	check_ioctl("fionread.fresh", stream(), FIONREAD);
	check_ioctl("outq.fresh", stream(), SIOCOUTQ);
}

SCENARIO(kernel_accept4, .kernel_only = 1, .pairs = 2)
{
	static const struct {
		const char *name;
		int flags;
	} ways[] = { { "none", 0 },
		     { "nonblock", SOCK_NONBLOCK },
		     { "cloexec", SOCK_CLOEXEC },
		     { "both", SOCK_NONBLOCK | SOCK_CLOEXEC },
		     { "wrong", 1 } };
	int server = listener(8);

	set_blocking(server, 0);
	for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		int client = stream(), fd;

		set_blocking(client, 0);
		connect_to(client, HERE, port_of(server));
		settle(server, POLLIN);
		fd = CHECK_FD(ways[i].name, accept4(server, NULL, NULL, ways[i].flags));
		if (fd < 0)
			continue;
		check(named("%s.nonblock", ways[i].name), "%d", !!(call.fcntl(fd, F_GETFL) & O_NONBLOCK));
		check(named("%s.cloexec", ways[i].name), "%d", call.fcntl(fd, F_GETFD));
	}
	CHECK_FD("left", accept4(server, NULL, NULL, 0));
	CHECK_FD("empty", accept4(server, NULL, NULL, 0));
}

SCENARIO(kernel_many_messages, .kernel_only = 1, .pairs = 2)
{
	char room[3][8] = { { 0 } };
	struct iovec parts[3], out[2] = { { "ab", 2 }, { "cde", 3 } };
	struct mmsghdr messages[3] = { { { 0 }, 0 } }, sent[2] = { { { 0 }, 0 } };
	struct timespec limit = { 0, 100000000 };
	int fds[2];

	for (int i = 0; i < 3; i++) {
		parts[i] = (struct iovec){ room[i], 4 };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &parts[i], .msg_iovlen = 1 };
	}
	for (int i = 0; i < 2; i++)
		sent[i].msg_hdr = (struct msghdr){ .msg_iov = &out[i], .msg_iovlen = 1 };
	pair(fds);
	CHECK("sendmmsg", sendmmsg(fds[0], sent, 2, 0));
	check("sendmmsg.lengths", "%u %u", sent[0].msg_len, sent[1].msg_len);
	settle(fds[1], POLLIN);
	nap(20);
	CHECK("recvmmsg", recvmmsg(fds[1], messages, 3, MSG_DONTWAIT, NULL));
	check("recvmmsg.lengths", "%u %u", messages[0].msg_len, messages[1].msg_len);
	check("recvmmsg.bytes", "%.4s %.4s", room[0], room[1]);
	CHECK("recvmmsg.empty", recvmmsg(fds[1], messages, 3, MSG_DONTWAIT, NULL));
	set_timeout(fds[1], SO_RCVTIMEO, 100);
	CHECK("recvmmsg.limit", recvmmsg(fds[1], messages, 3, 0, &limit));
	CHECK("recvmmsg.zero", recvmmsg(fds[1], messages, 0, 0, NULL));
	CHECK("sendmmsg.zero", sendmmsg(fds[0], sent, 0, 0));
	MUST(call.shutdown(fds[0], SHUT_WR));
	settle(fds[1], POLLIN | POLLRDHUP);
	CHECK("recvmmsg.end", recvmmsg(fds[1], messages, 3, 0, NULL));
	CHECK("sendmmsg.end", sendmmsg(fds[0], sent, 2, MSG_NOSIGNAL));
	datagram_pair(fds);
	CHECK("datagram.sendmmsg", sendmmsg(fds[0], sent, 2, 0));
	settle(fds[1], POLLIN);
	nap(20);
	CHECK("datagram.recvmmsg", recvmmsg(fds[1], messages, 3, MSG_DONTWAIT, NULL));
	check("datagram.lengths", "%u %u", messages[0].msg_len, messages[1].msg_len);
	CHECK("datagram.empty", recvmmsg(fds[1], messages, 3, MSG_DONTWAIT, NULL));
}

static void on_signal(int number)
{
	(void)number;
}

/* A signal that waits comes with the mask of the call. */
SCENARIO(kernel_masks, .kernel_only = 1, .pairs = 2)
{
	struct epoll_event event = { .events = EPOLLIN }, got;
	struct timespec limit = { 0, 200000000 }, none = { 0, 0 }, wrong = { 0, 1000000000 };
	struct pollfd one;
	sigset_t blocked, open;
	int fds[2], set = MUST(call.epoll_create1(0));
	fd_set read;

	pair(fds);
	MUST(call.epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event));
	signal(SIGUSR1, on_signal);
	sigemptyset(&open);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	one = (struct pollfd){ fds[0], POLLIN, 0 };
	FD_ZERO(&read);
	FD_SET(fds[0], &read);
	CHECK("ppoll", ppoll(&one, 1, &limit, &open));
	CHECK("ppoll.none", ppoll(&one, 1, &none, NULL));
	CHECK("ppoll.wrong", ppoll(&one, 1, &wrong, NULL));
	raise(SIGUSR1);
	CHECK("ppoll.masked", ppoll(&one, 1, &none, &blocked));
	CHECK("ppoll.open", ppoll(&one, 1, &limit, &open));
	raise(SIGUSR1);
	CHECK("pselect.open", pselect(fds[0] + 1, &read, NULL, NULL, &limit, &open));
	raise(SIGUSR1);
	CHECK("epoll_pwait.open", epoll_pwait(set, &got, 1, 200, &open));
	FD_ZERO(&read);
	FD_SET(fds[0], &read);
	CHECK("pselect", pselect(fds[0] + 1, &read, NULL, NULL, &limit, &open));
	check("pselect.left", "%ld ms", (long)limit.tv_nsec / 1000000);
	deliver(fds[1], fds[0], "x");
	CHECK("ppoll.data", ppoll(&one, 1, NULL, &open));
	CHECK("epoll_pwait.data", epoll_pwait(set, &got, 1, -1, &open));
	CHECK("epoll_pwait2.data", epoll_pwait2(set, &got, 1, &wrong, NULL));
	raise(SIGUSR1);
	CHECK("ppoll.both", ppoll(&one, 1, &limit, &open));
}

SCENARIO(kernel_files, .kernel_only = 1, .pairs = 2)
{
	char name[] = "/tmp/tcp-scenario-XXXXXX", room[16] = { 0 };
	int fds[2], file = MUST(mkstemp(name)), pipes[2];
	off_t offset = 2;
	FILE *stdio;

	unlink(name);
	MUST(write(file, "0123456789", 10));
	pair(fds);
	CHECK("sendfile", sendfile(fds[0], file, &offset, 5));
	check("sendfile.offset", "%ld", (long)offset);
	settle(fds[1], POLLIN);
	check_receive("sendfile.recv", fds[1], 16, 0);
	CHECK("sendfile.end", sendfile(fds[0], file, NULL, 5));
	MUST(pipe(pipes));
	MUST(call.send(fds[0], "spliced", 7, 0));
	settle(fds[1], POLLIN);
	CHECK("splice.in", splice(fds[1], NULL, pipes[1], NULL, 7, 0));
	CHECK("splice.out", splice(pipes[0], NULL, fds[1], NULL, 7, 0));
	settle(fds[0], POLLIN);
	check_receive("splice.recv", fds[0], 16, 0);
	set_blocking(fds[1], 0);
	CHECK("splice.empty", splice(fds[1], NULL, pipes[1], NULL, 7, SPLICE_F_NONBLOCK));
	set_blocking(fds[1], 1);
	stdio = fdopen(fds[0], "r+");
	check("fdopen", "%s", stdio ? "open" : errno_name(errno));
	MUST(call.send(fds[1], "line\n", 5, 0));
	check("fgets", "%s", fgets(room, sizeof room, stdio) ? strtok(room, "\n") : "NULL");
	check("fputs", "%d", fputs("answer\n", stdio) >= 0 && fflush(stdio) == 0);
	settle(fds[1], POLLIN);
	check_receive("fputs.recv", fds[1], 6, 0);
	check("fclose", "%d", fclose(stdio));
	settle(fds[1], POLLRDHUP);
	drain(fds[1]);
	CHECK("sendfile.after_end", sendfile(fds[1], file, &offset, 1));
	nap(30);
	CHECK("sendfile.again", sendfile(fds[1], file, &offset, 1));
}

/* Not every descriptor is a socket. */
SCENARIO(kernel_no_socket, .kernel_only = 1)
{
	struct sockaddr_in sin = address(HERE, NO_PORT);
	socklen_t size = sizeof sin;
	char room[4];
	int pipes[2];

	MUST(pipe(pipes));
	check_receive("recv", pipes[0], 1, MSG_DONTWAIT);
	CHECK("send", call.send(pipes[1], "x", 1, 0));
	CHECK("connect", call.connect(pipes[0], (struct sockaddr *)&sin, sizeof sin));
	CHECK("bind", call.bind(pipes[0], (struct sockaddr *)&sin, sizeof sin));
	CHECK("listen", call.listen(pipes[0], 1));
	CHECK("accept", call.accept(pipes[0], NULL, NULL));
	CHECK("shutdown", call.shutdown(pipes[0], SHUT_RD));
	CHECK("getsockname", call.getsockname(pipes[0], (struct sockaddr *)&sin, &size));
	CHECK("getsockopt", call.getsockopt(pipes[0], SOL_SOCKET, SO_TYPE, room, &size));
	CHECK("write", call.write(pipes[1], "x", 1));
	CHECK("read", call.read(pipes[0], room, 4));
}

static volatile sig_atomic_t ios;

static void on_io(int number)
{
	(void)number;
	ios++;
}

/* SIGIO for what comes. */
SCENARIO(kernel_sigio, .kernel_only = 1, .pairs = 2)
{
	int fds[2];

	pair(fds);
	signal(SIGIO, on_io);
	CHECK("setown", call.fcntl(fds[0], F_SETOWN, getpid()));
	CHECK("setfl", call.fcntl(fds[0], F_SETFL, O_ASYNC | O_NONBLOCK));
	deliver(fds[1], fds[0], "x");
	nap(20);
	check("data", "%s", ios ? "a signal" : "none");
	ios = 0;
	MUST(call.shutdown(fds[1], SHUT_WR));
	settle(fds[0], POLLRDHUP);
	nap(20);
	check("end", "%s", ios ? "a signal" : "none");
}
