// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A daemon's first steps: it closes all descriptors, forks twice, points 0 to 2 elsewhere, and then serves. Closing
 * everything in a child before exec leaves the parent alone.
 * rdma: 4
 */
#include "common.h"
#include <dlfcn.h>

static void children(void)
{
	int fds[2];
	pid_t pid;

	TITLE("a child closes everything");
	pair(fds);
	ping(fds[0], fds[1]);
	pid = fork();
	if (pid == 0) {
		closefrom(3);
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	say("exit %d", exit_of(pid));
	ping(fds[0], fds[1]);
	pid = fork();
	if (pid == 0) {
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		_exit(0);
	}
	say("exit %d", exit_of(pid));
	ping(fds[0], fds[1]);
	pid = vfork();
	if (pid == 0) {
		close(fds[0]);
		close(fds[1]);
		_exit(0);
	}
	say("exit %d", exit_of(pid));
	ping(fds[0], fds[1]);
	close(fds[0]);
	say("end %ld", (long)recv(fds[1], &(char){ 0 }, 1, 0));
	close(fds[1]);
}

/* The daemon proper; what it says comes back through a file. */
static void daemonize(void)
{
	int fds[2], null, out = MUST(open("daemon.out", O_RDWR | O_CREAT | O_TRUNC, 0600));
	char text[2000] = "";
	pid_t pid;

	TITLE("a daemon");
	pid = fork();
	if (pid == 0) {
		setsid();
		if (fork())
			_exit(0);
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(out, 1);
		dup2(null, 2);
		closefrom(3);
		pair(fds);
		ping(fds[0], fds[1]);
		say("pid kept %d", getsid(0) != getpid());
		close(fds[0]), close(fds[1]);
		say("done");
		_exit(0);
	}
	say("exit %d", exit_of(pid));
	for (int i = 0; i < 500 && !strstr(text, "done"); i++) {
		nap(20);
		MUST(pread(out, text, sizeof text - 1, 0));
	}
	say("%s", text);
	close(out);
}

int main(void)
{
	int fds[2];

	closefrom(3);
	TITLE("after closing everything");
	pair(fds);
	ping(fds[0], fds[1]);
	close(fds[0]), close(fds[1]);
	children();
	daemonize();
	return 0;
}
