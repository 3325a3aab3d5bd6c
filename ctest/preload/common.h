// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the programs of this folder share. A program knows nothing of RDMA: it says what its calls give, and the runner
 * wants the same words from it natively and under the preload library.
 */
#ifndef COMMON_H
#define COMMON_H

#include "helpers.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>

/* An address of the soft device (the runner may name a real one's), and one that nobody has. */
#ifndef HERE
#define HERE "10.77.0.1"
#define HERE6 "fd00:77::1"
#define NOBODY "10.77.0.9"
#endif

static inline long say_result(const char *text, long got, int error)
{
	if (got < 0)
		say("%s = %ld %s", text, got, errno_name(error));
	else
		say("%s = %ld", text, got);
	errno = error;
	return got;
}

/* The call's text, result and errno. */
#define SAY(call)                                                                 \
	({                                                                        \
		errno = 0;                                                        \
		long said_ = (long)(call);                                        \
		say_result(#call, said_, errno);                                  \
	})
/* For calls whose good result is a number of no meaning: a new descriptor. */
#define SAY_FD(call)                                                              \
	({                                                                        \
		errno = 0;                                                        \
		int fd_ = (call);                                                 \
		int error_ = errno;                                               \
		say("%s = %s", #call, fd_ < 0 ? errno_name(error_) : "a descriptor"); \
		errno = error_;                                                   \
		fd_;                                                              \
	})
#define TITLE(text) say("-- %s", text)

/* For what must work for the test to mean anything. */
#define MUST(call)                                                                \
	({                                                                        \
		long must_ = (long)(call);                                        \
		if (must_ < 0) {                                                  \
			say("%s:%d %s: %s", __FILE__, __LINE__, #call, errno_name(errno)); \
			exit(3);                                                  \
		}                                                                 \
		must_;                                                            \
	})

/* A time limit that was kept: not early, and less than a second late. */
static inline const char *in_time(double start, double limit)
{
	double took = now() - start;

	return took < limit - 0.002 ? "early" : took < limit + 1.0 ? "in time" : "late";
}

static inline void nap(int milliseconds)
{
	struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static inline int port_of(int fd)
{
	struct sockaddr_storage name;
	socklen_t length = sizeof name;

	MUST(getsockname(fd, (struct sockaddr *)&name, &length));
	return ntohs(name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&name)->sin6_port
						: ((struct sockaddr_in *)&name)->sin_port);
}

static inline int bind_to(int fd, const char *text, int port)
{
	struct sockaddr_in sin = ipv4(text, port);

	return bind(fd, (struct sockaddr *)&sin, sizeof sin);
}

static inline int connect_to(int fd, const char *text, int port)
{
	struct sockaddr_in sin = ipv4(text, port);

	return connect(fd, (struct sockaddr *)&sin, sizeof sin);
}

static inline int readable(int fd, int timeout)
{
	struct pollfd one = { fd, POLLIN, 0 };

	return poll(&one, 1, timeout) == 1 && (one.revents & POLLIN);
}

/* A listener on a port of the kernel's choice that somebody has asked for clients. */
static inline int listener(int backlog)
{
	int fd = MUST(socket(AF_INET, SOCK_STREAM, 0));

	MUST(bind_to(fd, HERE, 0));
	MUST(listen(fd, backlog));
	readable(fd, 0);
	return fd;
}

struct dialer {
	const char *host;
	int port, fd, error;
	pthread_t thread;
};

static inline void *dialer_run(void *arg)
{
	struct dialer *dialer = arg;

	dialer->fd = MUST(socket(AF_INET, SOCK_STREAM, 0));
	dialer->error = connect_to(dialer->fd, dialer->host, dialer->port) ? errno : 0;
	return NULL;
}

/* A client in a thread of its own: natively a connect ends before the accept, over RDMA with it. */
static inline void dial(struct dialer *dialer, int port)
{
	dialer->host = HERE;
	dialer->port = port;
	dialer->error = 0;
	MUST(-pthread_create(&dialer->thread, NULL, dialer_run, dialer));
}

static inline int dialed(struct dialer *dialer)
{
	pthread_join(dialer->thread, NULL);
	if (dialer->error) {
		say("connect: %s", errno_name(dialer->error));
		exit(3);
	}
	return dialer->fd;
}

/* Two connected sockets: fds[0] accepted, fds[1] connected. */
static inline void pair_of(int server, int fds[2])
{
	struct dialer dialer;

	dial(&dialer, port_of(server));
	fds[0] = MUST(accept(server, NULL, NULL));
	fds[1] = dialed(&dialer);
}

static inline void pair(int fds[2])
{
	int server = listener(8);

	pair_of(server, fds);
	MUST(close(server));
}

/* As many bytes as asked for, or fewer at the end. */
static inline long read_all(int fd, char *to, long size)
{
	long done = 0, n;

	while (done < size && (n = recv(fd, to + done, size - done, 0)) > 0)
		done += n;
	return done;
}

static inline long write_all(int fd, const char *from, long size)
{
	long done = 0, n;

	while (done < size && (n = send(fd, from + done, size - done, MSG_NOSIGNAL)) > 0)
		done += n;
	return done;
}

/* What came up to the end, as a line. */
static inline void until_end(int fd)
{
	static char text[4000];
	long n = read_all(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = 0;
	say("%s", text);
}

static inline int error_of(int fd)
{
	int error = -1;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
	return error;
}

/* One byte there and back: both directions live. */
static inline void ping(int a, int b)
{
	char byte = 0;

	MUST(send(a, "p", 1, 0));
	MUST(recv(b, &byte, 1, 0));
	say("ping %c", byte);
	MUST(send(b, "q", 1, 0));
	MUST(recv(a, &byte, 1, 0));
	say("pong %c", byte);
}

static inline char pattern(long at)
{
	return (char)(at * 7 + at / 251);
}

/* A signal for the calling thread after a while. */
struct alarm_clock {
	pthread_t whom, thread;
	int milliseconds, number;
};

static inline void *ring(void *arg)
{
	struct alarm_clock *clock = arg;

	nap(clock->milliseconds);
	pthread_kill(clock->whom, clock->number);
	return NULL;
}

static inline void ring_after(struct alarm_clock *clock, int milliseconds, int number)
{
	*clock = (struct alarm_clock){ .whom = pthread_self(), .milliseconds = milliseconds, .number = number };
	MUST(-pthread_create(&clock->thread, NULL, ring, clock));
}

/* An action on a socket after a while. */
struct later {
	pthread_t thread;
	int milliseconds, fd;
	char what; /* s(end), c(lose), h(alf close) */
};

static inline void *later_run(void *arg)
{
	struct later *later = arg;

	nap(later->milliseconds);
	if (later->what == 's')
		MUST(send(later->fd, "later", 5, 0));
	else if (later->what == 'h')
		MUST(shutdown(later->fd, SHUT_WR));
	else
		MUST(close(later->fd));
	return NULL;
}

static inline void do_later(struct later *later, int milliseconds, int fd, char what)
{
	*later = (struct later){ .milliseconds = milliseconds, .fd = fd, .what = what };
	MUST(-pthread_create(&later->thread, NULL, later_run, later));
}

static inline void was_done(struct later *later)
{
	pthread_join(later->thread, NULL);
}

/* Names of event bits, for poll and epoll alike where the bits are the same. */
static inline const char *events(unsigned bits)
{
	static _Thread_local char text[4][80];
	static _Thread_local unsigned turn;
	char *to = text[turn++ % 4];

	snprintf(to, sizeof text[0], "%s%s%s%s%s%s%s", bits & POLLIN ? "IN " : "", bits & POLLPRI ? "PRI " : "",
		 bits & POLLOUT ? "OUT " : "", bits & POLLERR ? "ERR " : "", bits & POLLHUP ? "HUP " : "",
		 bits & POLLNVAL ? "NVAL " : "", bits & POLLRDHUP ? "RDHUP " : "");
	if (*to)
		to[strlen(to) - 1] = 0;
	return to;
}

#endif
