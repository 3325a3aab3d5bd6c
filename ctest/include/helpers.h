/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the C programs of every folder share. No call here is one that is tested. */
#ifndef CTEST_HELPERS_H
#define CTEST_HELPERS_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* "ENOMEM"; "-" for no error. */
static inline const char *errno_name(int number)
{
	const char *known = number > 0 ? strerrorname_np(number) : NULL;
	static __thread char other[24];

	if (!number)
		return "-";
	if (known)
		return known;
	snprintf(other, sizeof other, "errno %d", number);
	return other;
}

/* A line, out at once: a child that forks later must not print it again. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
}

static inline double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double now(void) { return seconds(CLOCK_MONOTONIC); }

static inline struct sockaddr_in ipv4(const char *text, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET, text, &sin.sin_addr) != 1)
		abort();
	return sin;
}

static inline struct sockaddr_in6 ipv6(const char *text, int port)
{
	struct sockaddr_in6 sin = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET6, text, &sin.sin6_addr) != 1)
		abort();
	return sin;
}

static volatile sig_atomic_t signals_seen;

static inline void on_signal(int number)
{
	(void)number;
	signals_seen++;
}

/* A signal that only interrupts. */
static inline void handle(int number, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

/* The exit code of a child, or minus the signal that ended it. */
static inline int exit_of(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid) {
		say("waitpid: %s", errno_name(errno));
		exit(3);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Descriptors of this process. */
static inline int open_files(void)
{
	DIR *all = opendir("/proc/self/fd");
	int count = 0;

	if (!all)
		abort();
	while (readdir(all))
		count++;
	closedir(all);
	/* Without "." and "..", and the one that this has opened. */
	return count - 3;
}

/* Bytes of this process that are in memory. */
static inline long resident(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		abort();
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

#endif
