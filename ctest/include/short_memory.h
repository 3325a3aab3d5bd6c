/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A program whose library runs out of memory: the malloc of its own that this brings, and a run for each allocation
 * of the library. What is wrong goes to the program's WRONG(format, …). */
#ifndef SHORT_MEMORY_H
#define SHORT_MEMORY_H

#include "failing_malloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ALLOCATIONS = 500 };

/* Of the allocation that fails in this process. */
static long number_now;

static bool is_something(const struct rdmafake_live *live)
{
	return live->channels || live->ids || live->events || live->qps || live->cqs || live->multicasts;
}

/* The number of the allocation that fails, told to the child; whether there was such a one. */
static bool attempt(void (*run)(void), long number)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct rdmafake_live live = { 0 };

		alarm(15);
		left = number_now = number;
		run();
		left = 0;
		/* A thread of the library may still be at it. */
		for (int i = 0; i < 100; i++) {
			RDMAFAKE(rdmafake_live)(&live);
			if (!is_something(&live))
				break;
			usleep(10000);
		}
		if (is_something(&live))
			WRONG("number %ld: something is left", number);
		fflush(stdout);
		_exit(fired ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		WRONG("number %ld: signal %d", number, WTERMSIG(status));
	return WIFSIGNALED(status) || WEXITSTATUS(status) == 1;
}

/* How many allocations a run has: each has failed in one. */
static long every(void (*run)(void))
{
	long number = 1;

	find_library();
	while (number < MOST_ALLOCATIONS && attempt(run, number))
		number++;
	return number - 1;
}

#endif
