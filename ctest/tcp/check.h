// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A scenario prints `SCENARIO.CHECK: VALUE` for each check. A value has no pointer, number of a descriptor or port,
 * and no time: it must be the same in each run.
 */
#ifndef CHECK_H
#define CHECK_H

#include "calls.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/* An address of the soft device, which an interface has, too; one that never answers; a port that nobody has. */
#define HERE "10.77.0.1"
#define HERE6 "fd00:77::1"
#define SILENT "10.77.0.9"
#define NO_PORT 2007

struct scenario {
	const char *name;
	void (*run)(const struct scenario *);
	/* Calls that rsockets do not have: natively and under the preload library only. */
	int kernel_only;
	/* So many queue pairs at least must go live, where there are some: two for a connection. */
	int pairs;
	/* Its clients connect before anybody accepts: under the preload library that is TCP. */
	int queued;
	const void *arg;
	struct scenario *next;
};

void add_scenario(struct scenario *scenario);

/* SCENARIO(name, .pairs = 2) { body } */
#define SCENARIO(title, ...)                                                              \
	static void title(const struct scenario *);                                       \
	static struct scenario scenario_##title = { .name = #title, .run = title, ##__VA_ARGS__ }; \
	__attribute__((constructor)) static void add_##title(void)                        \
	{                                                                                 \
		add_scenario(&scenario_##title);                                          \
	}                                                                                 \
	static void title(const struct scenario *self __attribute__((unused)))

/* What a peer of another process does: this program again, as `--peer NAME PORT`. */
struct peer {
	const char *name;
	int (*run)(int port);
	struct peer *next;
};

void add_peer(struct peer *peer);
/* Starts one; its process. */
pid_t start_peer(const char *name, int port);

#define PEER(title)                                                                       \
	static int title(int port);                                                       \
	static struct peer peer_##title = { .name = #title, .run = title };                      \
	__attribute__((constructor)) static void add_##title(void)                        \
	{                                                                                 \
		add_peer(&peer_##title);                                                  \
	}                                                                                 \
	static int title(int port)

/* A name made of several words; good for the next few calls. */
const char *named(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *errno_name(int number);
/* IN|OUT, for poll and epoll alike; - for none. */
const char *event_names(unsigned events);

void check(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The result, or -1 and errno; hands the result on. */
long check_result(const char *name, long got, int error);
/* poll's word on a socket, once it is TCP's, or stands. */
void check_events(const char *name, int fd);
/* The same, or that it is as before. */
void check_change(const char *name, int fd, int before);
/* poll's word and SO_ERROR, which it takes. */
void check_state(const char *name, int fd);
/* Says of a call whether it has kept a limit in seconds: neither early, nor a second late. */
void check_time(const char *name, double start, double limit);

/* A call that sleeps for long is ended by a signal: its result is `asleep` then. */
void watch_call(void);
int call_was_asleep(void);
/* For scenarios that have signal handlers of their own. */
void watch_no_calls(void);

#define CHECK(name, expression)                                                           \
	({                                                                                \
		watch_call();                                                             \
		errno = 0;                                                                \
		long got_ = (long)(expression);                                           \
		check_result(name, got_, errno);                                          \
	})
/* Of a call that makes a descriptor. */
#define CHECK_FD(name, expression)                                                        \
	({                                                                                \
		watch_call();                                                             \
		errno = 0;                                                                \
		int fd_ = (expression);                                                   \
		int error_ = errno;                                                       \
		if (fd_ < 0)                                                              \
			check_result(name, -1, error_);                                   \
		else                                                                      \
			check(name, "a descriptor");                                      \
		fd_;                                                                      \
	})
/* For what must work for a scenario to mean anything. */
#define MUST(expression)                                                                  \
	({                                                                                \
		long must_ = (long)(expression);                                          \
		if (must_ < 0)                                                            \
			give_up(__FILE__, __LINE__, #expression);                         \
		must_;                                                                    \
	})
void give_up(const char *file, int line, const char *what) __attribute__((noreturn));

/* Waits for all of these events, or for what came instead of them when they did not come before. */
int settle(int fd, int events);
int poll_now(int fd, int events);
/* Where the words of TCP on this check begin, with its value; NULL where there was no run on TCP. */
const char *oracle_says(const char *name);
int so_error(int fd);
void nap(int milliseconds);
double now(void);

#endif
