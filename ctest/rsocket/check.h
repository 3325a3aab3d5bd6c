// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Lines of the form "ok NAME: RETURN ERRNO". Names that start with a fault's id (R-2, E-1, …) are where
 * the C library is known to differ. */
#ifndef CHECK_H
#define CHECK_H

#include "helpers.h"
#include "rdmafake.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <sys/epoll.h>
#include <sys/time.h>

int repoll_create(int flags) __attribute__((weak));
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event) __attribute__((weak));
int repoll_wait(int epfd, struct epoll_event *events, int max, int timeout) __attribute__((weak));

static int failures;

static inline void report(const char *name, long got, int error, long want, int want_error)
{
	int good = got == want && (got >= 0 || error == want_error);

	failures += !good;
	printf("%s %s: %ld %s", good ? "ok" : "not-ok", name, got, got < 0 ? errno_name(error) : "-");
	if (!good)
		printf(" (want %ld %s)", want, want < 0 ? errno_name(want_error) : "-");
	printf("\n");
	fflush(stdout);
}

/* The call's result and errno. */
#define CHECK(name, call, want, want_error)                         \
	do {                                                        \
		errno = 0;                                          \
		long got_ = (long)(call);                           \
		report(name, got_, errno, want, want_error);        \
	} while (0)

/* In a child, because the C library may die of it. */
#define CHECK_ALONE(name, call, want, want_error)                   \
	do {                                                        \
		fflush(stdout);                                     \
		pid_t pid_ = fork();                                \
		if (pid_ == 0) {                                    \
			alarm(10);                                  \
			CHECK(name, call, want, want_error);        \
			_exit(0);                                   \
		}                                                   \
		int status_ = 0;                                    \
		waitpid(pid_, &status_, 0);                         \
		if (!WIFEXITED(status_)) {                          \
			failures++;                                 \
			printf("not-ok %s: signal %d\n", name, WTERMSIG(status_)); \
		}                                                   \
	} while (0)

#define CHECK_TRUE(name, condition) report(name, (condition) ? 1 : 0, 0, 1, 0)

static inline struct sockaddr_in address(int port)
{
	const char *text = getenv("RSOCKET_ADDRESS");

	return ipv4(text ? text : "10.9.0.1", port);
}

static inline int listener(int port, int backlog)
{
	struct sockaddr_in sin = address(port);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), one = 1;

	rsetsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (fd < 0 || rbind(fd, (struct sockaddr *)&sin, sizeof sin) || rlisten(fd, backlog)) {
		perror("listener");
		exit(2);
	}
	return fd;
}

static inline int dial(int port)
{
	struct sockaddr_in sin = address(port);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || rconnect(fd, (struct sockaddr *)&sin, sizeof sin)) {
		perror("dial");
		exit(2);
	}
	return fd;
}

struct dialer {
	int port, fd;
};

static inline void *dial_thread(void *arg)
{
	struct dialer *dialer = arg;

	dialer->fd = dial(dialer->port);
	return NULL;
}

/* Two connected sockets of this process. */
static inline void pair(int port, int fds[2])
{
	int server = listener(port, 8);
	struct dialer dialer = { port, -1 };
	pthread_t thread;

	pthread_create(&thread, NULL, dial_thread, &dialer);
	fds[0] = raccept(server, NULL, NULL);
	pthread_join(thread, NULL);
	fds[1] = dialer.fd;
	rclose(server);
	if (fds[0] < 0 || fds[1] < 0) {
		perror("pair");
		exit(2);
	}
}

static inline int on_soft_device(void) { return RDMAFAKE(rdmafake_live) != NULL; }

static inline int finish(void) { return failures ? 1 : 0; }

#endif
