// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Peers that stop or die, and that never finish a handshake.
 * shared: yes
 */
#include "check.h"

static char buf[1 << 17];

/* A peer process that connects, tells us, and then does as it is told. */
static pid_t peer(int port, int server, int *fd, void (*then)(int))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int peer = dial(port);

		then(peer);
		_exit(0);
	}
	*fd = raccept(server, NULL, NULL);
	return pid;
}

static void idle(int fd)
{
	(void)fd;
	for (;;)
		pause();
}

static void sender(int fd)
{
	for (;;)
		if (rsend(fd, buf, 1000, MSG_NOSIGNAL) < 0)
			idle(fd);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct killer {
	pid_t pid;
};

static void *kill_later(void *arg)
{
	usleep(400000);
	kill(((struct killer *)arg)->pid, SIGKILL);
	return NULL;
}

int main(void)
{
	/* Fork before the library has a thread: the server lives in a child of its own. */
	int fd, server = listener(7300, 8);
	double start;
	pthread_t thread;
	struct killer killer;
	pid_t pid;

	if (getenv("THEIRS"))
		return 0;
	pid = peer(7300, server, &fd, idle);
	killer.pid = pid;
	pthread_create(&thread, NULL, kill_later, &killer);
	start = now();
	CHECK("R-36 killed peer: rrecv ends", rrecv(fd, buf, 1, 0), -1, ECONNRESET);
	CHECK_TRUE("R-36 killed peer: soon", now() - start < 5);
	pthread_join(thread, NULL);
	waitpid(pid, NULL, 0);
	CHECK("R-36 killed peer: rsend", rsend(fd, buf, 1, MSG_NOSIGNAL), -1, EPIPE);
	CHECK("R-36 killed peer: then", rsend(fd, buf, 1, MSG_NOSIGNAL), -1, EPIPE);
	rclose(fd);

	pid = peer(7300, server, &fd, idle);
	killer.pid = pid;
	pthread_create(&thread, NULL, kill_later, &killer);
	start = now();
	long n;
	do
		n = rsend(fd, buf, sizeof buf, MSG_NOSIGNAL);
	while (n > 0);
	report("R-36 killed peer: blocked rsend ends", n, errno, -1, ECONNRESET);
	CHECK_TRUE("R-36 killed peer: soon", now() - start < 5);
	pthread_join(thread, NULL);
	waitpid(pid, NULL, 0);
	rclose(fd);

	pid = peer(7300, server, &fd, sender);
	rrecv(fd, buf, 1000, MSG_WAITALL);
	kill(pid, SIGSTOP);
	start = now();
	CHECK("R-36 stopped peer: rclose", rclose(fd), 0, 0);
	printf("# took %.2f s\n", now() - start);
	CHECK_TRUE("R-36 stopped peer: in bounded time", now() - start < 12);
	end(pid);

	pid = peer(7300, server, &fd, idle);
	kill(pid, SIGSTOP);
	rfcntl(fd, F_SETFL, O_NONBLOCK);
	while (rsend(fd, buf, sizeof buf, MSG_NOSIGNAL) > 0)
		;
	struct linger linger = { 1, 1 };
	rsetsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	start = now();
	CHECK("R-36 stopped peer, full: rclose", rclose(fd), 0, 0);
	printf("# took %.2f s\n", now() - start);
	CHECK_TRUE("R-36 stopped peer, full: within SO_LINGER", now() - start < 3);
	end(pid);

	/* One listener's slow client is no other's trouble. */
	int other = listener(7301, 8);
	pid = peer(7300, server, &fd, idle);
	kill(pid, SIGSTOP);
	start = now();
	int second;
	pid_t quick = peer(7301, other, &second, idle);
	CHECK_TRUE("R-13 accept while another client is stopped", second >= 0 && now() - start < 3);
	end(quick);
	end(pid);
	rclose(second);
	rclose(fd);
	rclose(other);
	rclose(server);
	return finish();
}
