/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A malloc of the program's own, of which one call of the library's fails: the one that `left` counts down to. */
#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

#include "library_code.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The library may have threads of its own. */
static _Atomic long left;
static _Atomic bool fired;

static bool fails(void *caller)
{
	if (!in_library(caller) || left <= 0 || atomic_fetch_sub(&left, 1) != 1)
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

#endif
