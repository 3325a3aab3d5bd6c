/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What every bench shares. A section is a piece of a program with a name: under callgrind its instructions
 * are counted, otherwise its time is taken. `benches/run` reads what is printed: "name value" a line.
 */
#ifndef BENCH_H
#define BENCH_H

#include "helpers.h"

#include <stdint.h>
#include <valgrind/callgrind.h>

/* Ends the bench: a figure of calls that failed would be worth nothing. */
#define MUST(what)                                                                             \
	do {                                                                                   \
		if (!(what)) {                                                                 \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what, strerror(errno)); \
			exit(1);                                                               \
		}                                                                              \
	} while (0)

static inline double processor(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* Only what lies between is counted; callgrind runs with --collect-atstart=no. */
#define COUNT(name, ...)                                 \
	do {                                             \
		CALLGRIND_TOGGLE_COLLECT;                \
		__VA_ARGS__;                             \
		CALLGRIND_TOGGLE_COLLECT;                \
		CALLGRIND_DUMP_STATS_AT(name);           \
	} while (0)

/* Nanoseconds of processor time for each of `rounds`; a count under callgrind. */
#define ROUNDS(name, rounds, ...)                                                       \
	do {                                                                            \
		double begin_ = processor();                                            \
		COUNT(name, for (long round_ = 0; round_ < (rounds); round_++) { __VA_ARGS__; }); \
		if (!RUNNING_ON_VALGRIND)                                               \
			printf("%s %.2f\n", name, 1e9 * (processor() - begin_) / (double)(rounds)); \
	} while (0)

/* BENCH_ADDRESS: of another device than the soft device. */
static inline struct sockaddr *device_address(int port)
{
	static __thread struct sockaddr_in sin;
	const char *other = getenv("BENCH_ADDRESS");

	sin = ipv4(other ? other : "10.77.0.1", port);
	return (struct sockaddr *)&sin;
}

static inline long argument(int argc, char **argv, int n, long otherwise)
{
	return n < argc ? atol(argv[n]) : otherwise;
}

#endif
