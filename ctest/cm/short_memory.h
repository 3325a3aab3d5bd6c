/* A program whose library runs out of memory: the malloc of its own that this brings, and a run for each allocation
 * of the library. What is wrong is told by the program's say(). */
#ifndef SHORT_MEMORY_H
#define SHORT_MEMORY_H

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ALLOCATIONS = 500 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uintptr_t from, to;
/* The library may have threads of its own. */
static _Atomic long left;
static _Atomic bool fired;
/* Of the allocation that fails in this process. */
static long number_now;

static int find_library(struct dl_phdr_info *object, size_t size __attribute__((unused)), void *arg __attribute__((unused)))
{
	if (!object->dlpi_name || !strstr(object->dlpi_name, "librdmacm.so"))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
			from = object->dlpi_addr + part->p_vaddr;
			to = from + part->p_memsz;
		}
	}
	return 1;
}

static bool fails(void *caller)
{
	bool is_library = (uintptr_t)caller - from < to - from;

	if (!is_library || left <= 0 || atomic_fetch_sub(&left, 1) != 1)
		return false;
	fired = true;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **place, size_t alignment, size_t size)
{
	if (fails(__builtin_return_address(0)))
		return ENOMEM;
	*place = __libc_memalign(alignment, size);
	return *place ? 0 : ENOMEM;
}

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
			say("number %ld: something is left", number);
		fflush(stdout);
		_exit(fired ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		say("number %ld: signal %d", number, WTERMSIG(status));
	return WIFSIGNALED(status) || WEXITSTATUS(status) == 1;
}

/* How many allocations a run has: each has failed in one. */
static long every(void (*run)(void))
{
	long number = 1;

	dl_iterate_phdr(find_library, NULL);
	while (number < MOST_ALLOCATIONS && attempt(run, number))
		number++;
	return number - 1;
}

#endif
