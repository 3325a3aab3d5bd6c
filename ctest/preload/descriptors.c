// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Descriptors of connections and listeners: copies, closing in any order, reuse, flags, close_range, exec, fstat.
 * rdma: 10
 */
#include "common.h"

static void copies(void)
{
	int fds[2], copy, high;

	TITLE("copies");
	pair(fds);
	copy = SAY_FD(dup(fds[0]));
	ping(copy, fds[1]);
	SAY(close(fds[0]));
	ping(fds[1], copy);
	high = SAY(dup2(copy, 200));
	ping(high, fds[1]);
	SAY(close(copy));
	copy = SAY(fcntl(high, F_DUPFD, 300));
	SAY(fcntl(copy, F_GETFD));
	SAY(close(high));
	high = SAY(fcntl(copy, F_DUPFD_CLOEXEC, 400));
	SAY(fcntl(high, F_GETFD));
	SAY(close(copy));
	copy = SAY(dup3(high, 210, O_CLOEXEC));
	SAY(fcntl(copy, F_GETFD));
	SAY(dup3(high, high, 0));
	SAY(dup2(high, high));
	SAY(dup3(high, 211, 12345));
	SAY(dup2(high, -1));
	SAY(fcntl(high, F_DUPFD, -1));
	SAY(fcntl(high, F_DUPFD, 100000));
	SAY(dup(999));
	ping(high, copy == 210 ? fds[1] : -1);
	/* P-15: the last close ends the connection, no other does. */
	SAY(close(high));
	SAY(close(high));
	ping(copy, fds[1]);
	SAY(close(copy));
	SAY(recv(fds[1], &(char){ 0 }, 1, 0));
	SAY(close(fds[1]));
	SAY(close(fds[1]));
}

static void over(void)
{
	int one[2], two[2], pipes[2];

	TITLE("dup2 over open descriptors");
	pair(one);
	pair(two);
	MUST(pipe(pipes));
	/* Over a connection: its peer sees the end. */
	SAY(dup2(one[0], two[0]) == two[0]);
	SAY(recv(two[1], &(char){ 0 }, 1, 0));
	ping(two[0], one[1]);
	SAY(close(one[0]));
	ping(two[0], one[1]);
	/* A pipe over a connection, a connection over a pipe. */
	SAY(dup2(two[0], pipes[0]) == pipes[0]);
	SAY(dup2(pipes[1], two[0]) == two[0]);
	ping(pipes[0], one[1]);
	handle(SIGPIPE, SA_RESTART);
	SAY(write(two[0], "x", 1));
	close(pipes[0]), close(pipes[1]), close(two[0]), close(two[1]);
	SAY(recv(one[1], &(char){ 0 }, 1, 0));
	close(one[1]);
	/* Standard output of a child is often a connection: dup2 onto 0. */
	pair(one);
	SAY(dup2(one[0], 0));
	close(one[0]);
	ping(0, one[1]);
	close(0), close(one[1]);
	SAY(open("/dev/null", O_RDONLY));
}

static void reuse(void)
{
	int fds[2], first, file;
	char text[8];

	TITLE("numbers used again");
	pair(fds);
	first = fds[0] < fds[1] ? fds[0] : fds[1];
	SAY(close(fds[0]));
	SAY(close(fds[1]));
	file = MUST(open("/dev/zero", O_RDWR));
	say("the lowest number: %d", file <= first);
	file = MUST(dup2(file, first));
	SAY(read(file, text, 8));
	SAY(recv(file, text, 8, 0));
	SAY(getpeername(file, (struct sockaddr *)&(struct sockaddr_in){ 0 }, &(socklen_t){ 16 }));
	close(file);
	for (int i = 0; i < 3; i++) {
		pair(fds);
		ping(fds[0], fds[1]);
		close(fds[1]), close(fds[0]);
	}
}

static void ranges(void)
{
	int fds[2], keep;

	TITLE("close_range");
	pair(fds);
	keep = MUST(dup2(fds[1], 30));
	MUST(dup2(fds[0], 100));
	MUST(dup2(fds[0], 101));
	close(fds[0]), close(fds[1]);
	SAY(close_range(100, 100, 0));
	ping(101, keep);
	SAY(close_range(90, 120, CLOSE_RANGE_CLOEXEC));
	SAY(fcntl(101, F_GETFD));
	ping(101, keep);
	SAY(close_range(90, 250, 0));
	SAY(fcntl(101, F_GETFD));
	SAY(recv(keep, &(char){ 0 }, 1, 0));
	SAY(close_range(9, 8, 0));
	SAY(close_range(9, 10, 99));
	close(keep);
}

static void flags(void)
{
	int fds[2], server = listener(4), fd;
	struct dialer dialer;
	struct stat about;

	TITLE("flags and kinds");
	fd = MUST(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	say("CLOEXEC %d NONBLOCK %d", fcntl(fd, F_GETFD) & FD_CLOEXEC, !!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	SAY(fcntl(fd, F_SETFD, 0));
	SAY(fcntl(fd, F_GETFD));
	SAY(fcntl(fd, F_SETFL, 0));
	say("NONBLOCK %d, access mode %d", !!(fcntl(fd, F_GETFL) & O_NONBLOCK), fcntl(fd, F_GETFL) & O_ACCMODE);
	close(fd);
	for (int bits = 0; bits < 4; bits++) {
		int wanted = (bits & 1 ? SOCK_NONBLOCK : 0) | (bits & 2 ? SOCK_CLOEXEC : 0);

		dial(&dialer, port_of(server));
		fds[0] = SAY_FD(accept4(server, NULL, NULL, wanted));
		fds[1] = dialed(&dialer);
		say("accepted: CLOEXEC %d NONBLOCK %d", fcntl(fds[0], F_GETFD) & FD_CLOEXEC,
		    !!(fcntl(fds[0], F_GETFL) & O_NONBLOCK));
		if (bits & 1)
			SAY(recv(fds[0], &(char){ 0 }, 1, 0));
		MUST(fcntl(fds[0], F_SETFL, 0));
		ping(fds[0], fds[1]);
		close(fds[0]), close(fds[1]);
	}
	SAY(accept4(server, NULL, NULL, 12345));
	MUST(fcntl(server, F_SETFL, O_NONBLOCK));
	SAY(accept(server, NULL, NULL));
	pair(fds);
	SAY(fstat(fds[0], &about));
	say("socket %d", S_ISSOCK(about.st_mode));
	SAY(fstat(server, &about));
	say("socket %d", S_ISSOCK(about.st_mode));
	SAY(fcntl(fds[0], F_SETOWN, getpid()));
	SAY(fcntl(fds[0], F_GETOWN) == getpid());
	SAY(isatty(fds[0]));
	SAY(fsync(fds[0]));
	SAY(ftruncate(fds[0], 0));
	close(fds[0]), close(fds[1]), close(server);
}

/* A program started with the descriptors: those marked close-on-exec are gone, the others are there. */
static void exec_with(void)
{
	int fds[2];
	char mine[128];
	pid_t pid;

	TITLE("exec");
	pair(fds);
	MUST(fcntl(fds[0], F_SETFD, FD_CLOEXEC));
	pid = fork();
	if (pid == 0) {
		snprintf(mine, sizeof mine, "test -e /proc/self/fd/%d && exit 1; test -e /proc/self/fd/%d || exit 2", fds[0], fds[1]);
		execl("/bin/sh", "sh", "-c", mine, NULL);
		_exit(9);
	}
	say("exit %d", exit_of(pid));
	ping(fds[0], fds[1]);
	snprintf(mine, sizeof mine, "test -e /proc/self/fd/%d", fds[0]);
	say("system: %d", WEXITSTATUS(system(mine)));
	ping(fds[0], fds[1]);
	FILE *pipe = popen("echo from a pipe", "r");
	say("%s", fgets(mine, sizeof mine, pipe) ? mine : "nothing");
	pclose(pipe);
	ping(fds[0], fds[1]);
	close(fds[0]);
	SAY(recv(fds[1], &(char){ 0 }, 1, 0));
	close(fds[1]);
}

int main(void)
{
	copies();
	over();
	reuse();
	ranges();
	flags();
	exec_with();
	return 0;
}
