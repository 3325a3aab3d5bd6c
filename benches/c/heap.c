/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Preloaded: how many bytes of the heap the library under test holds. A block counts when it was asked for by
 * code of librdmacm.so.1; what the soft device, libibverbs and the program ask for does not.
 */
#include "library_code.h"

#include <malloc.h>
#include <stdatomic.h>

static atomic_long live;

__attribute__((constructor)) static void start(void)
{
	find_library();
}

long heap_live(void)
{
	return live;
}

/* Blocks are freed by the same library that asked for them. */
#define THEIRS() in_library(__builtin_return_address(0))

static void *gained(void *block)
{
	live += (long)malloc_usable_size(block);
	return block;
}

void *malloc(size_t size)
{
	return THEIRS() ? gained(__libc_malloc(size)) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return THEIRS() ? gained(__libc_calloc(count, size)) : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	if (!THEIRS())
		return __libc_realloc(block, size);
	live -= (long)malloc_usable_size(block);
	return gained(__libc_realloc(block, size));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = THEIRS() ? gained(__libc_memalign(alignment, size)) : __libc_memalign(alignment, size);
	return *block ? 0 : 12;
}

void free(void *block)
{
	if (THEIRS())
		live -= (long)malloc_usable_size(block);
	__libc_free(block);
}
