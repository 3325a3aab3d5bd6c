// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * RDMACM_LOG: the lines go to the standard error that the program was started with, and never to a file that it opens
 * under that number later.
 * device: soft
 * env: RDMACM_LOG=1
 */
#include "check.h"
#include <sys/stat.h>

static char first[] = "/tmp/log-XXXXXX", second[] = "/tmp/log-XXXXXX";

static long size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) ? -1 : (long)status.st_size;
}

/* A call that fails with a line in the log. */
static void provoke(void)
{
	struct sockaddr_in nobody = ipv4("203.0.113.9", 7000);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);

	CHECK("R-41 log: rbind", rbind(fd, (struct sockaddr *)&nobody, sizeof nobody) ? -1 : 0, -1, errno);
	rclose(fd);
}

/* With standard error in a file of its own. */
static int inner(const char *own, const char *other)
{
	long before;
	int fd;

	provoke();
	before = size_of(own);
	CHECK_TRUE("R-41 log: a line", before > 0);
	close(STDERR_FILENO);
	provoke();
	fd = open(other, O_RDWR);
	CHECK("R-41 log: a file under its number", fd, STDERR_FILENO, 0);
	provoke();
	CHECK("R-41 log: nothing in the program's file", size_of(other), 0, 0);
	close(STDERR_FILENO);
	fd = open(own, O_WRONLY | O_APPEND);
	CHECK("R-41 log: its own file again", fd, STDERR_FILENO, 0);
	provoke();
	CHECK_TRUE("R-41 log: a line again", size_of(own) > before);
	return finish();
}

int main(int argc, char **argv)
{
	int status = -1;
	pid_t pid;

	if (argc == 3)
		return inner(argv[1], argv[2]);
	close(mkstemp(second));
	int fd = mkstemp(first);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fd, STDERR_FILENO);
		execl(argv[0], argv[0], first, second, NULL);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	CHECK("R-41 log: the program", status, 0, 0);
	unlink(first);
	unlink(second);
	return finish();
}
