/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Handlers of signals that fork or exit while the same thread is in a command: nobody waits for ever.
 * The commands are written without a library, whose malloc would not bear that.
 */
#include "rdmafake.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(cond) do { if (!(cond)) { perror(#cond); exit(1); } } while (0)

enum { SECONDS = 2, ENDS = 60, LIMIT_S = 10 };

static volatile sig_atomic_t forks_made;

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int node(void)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

static void spin(int fd)
{
	struct rdma_ucm_create_id_resp made;
	struct rdma_ucm_destroy_id_resp gone;
	struct { struct rdma_ucm_cmd_hdr head; struct rdma_ucm_create_id body; } create = {
		{ RDMA_USER_CM_CMD_CREATE_ID, sizeof(create.body), sizeof(made) },
		{ .uid = 1, .response = (uintptr_t)&made, .ps = RDMA_PS_TCP },
	};
	struct { struct rdma_ucm_cmd_hdr head; struct rdma_ucm_destroy_id body; } destroy = {
		{ RDMA_USER_CM_CMD_DESTROY_ID, sizeof(destroy.body), sizeof(gone) },
		{ .response = (uintptr_t)&gone },
	};

	MUST(write(fd, &create, sizeof(create)) == sizeof(create));
	destroy.body.id = made.id;
	MUST(write(fd, &destroy, sizeof(destroy)) == sizeof(destroy));
}

static void on_timer(int sig)
{
	pid_t pid = fork();

	(void)sig;
	if (!pid)
		_exit(0);
	if (pid > 0 && waitpid(pid, NULL, 0) == pid)
		forks_made++;
}

/* As a server does that starts its workers from the handler of SIGCHLD. */
static void forking(void)
{
	struct itimerval every = { { 0, 1500 }, { 0, 1500 } };
	long end = now_ms() + SECONDS * 1000;
	int fd = node();
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (now_ms() < end)
		spin(fd);
	every = (struct itimerval) { 0 };
	setitimer(ITIMER_REAL, &every, NULL);
	close(fd);
	printf("# %d forks in a handler\n", forks_made);
	printf("%s forks in a handler come back\n", forks_made > 10 ? "ok" : "not-ok");
}

static void on_end(int sig)
{
	(void)sig;
	_exit(0);
}

/* A server that leaves by its handler of SIGTERM. */
static void leaving(void)
{
	int good = 0;

	for (int i = 0; i < ENDS; i++) {
		pid_t pid = fork();
		long end;
		int status = -1;

		if (!pid) {
			int fd;

			signal(SIGTERM, on_end);
			fd = node();
			for (;;)
				spin(fd);
		}
		usleep(3000 + i * 37);
		kill(pid, SIGTERM);
		end = now_ms() + LIMIT_S * 1000;
		while (waitpid(pid, &status, WNOHANG) != pid && now_ms() < end)
			usleep(200);
		/* The signal may come before the handler is there. */
		good += status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
		if (status == -1)
			kill(pid, SIGKILL);
	}
	printf("%s a handler can end the process in any call\n", good == ENDS ? "ok" : "not-ok");
}

int main(void)
{
	struct rdmafake_live live;

	setvbuf(stdout, NULL, _IOLBF, 0);
	leaving();
	forking();
	RDMAFAKE(rdmafake_live)(&live);
	printf("%s nothing is left\n", live.channels + live.ids + live.events ? "not-ok" : "ok");
	printf("%s the lists agree\n", RDMAFAKE(rdmafake_check)() ? "not-ok" : "ok");
	return 0;
}
