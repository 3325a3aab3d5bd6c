/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For a program that brings a malloc of its own: whether the library under test is what calls it. */
#ifndef CTEST_LIBRARY_CODE_H
#define CTEST_LIBRARY_CODE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef LIBRARY_NAME
#define LIBRARY_NAME "/librdmacm.so"
#endif

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* Where the code of the library lies; both zero until it is found. */
static uintptr_t library_from, library_to;

static inline int is_library(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!object->dlpi_name || !strstr(object->dlpi_name, LIBRARY_NAME))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
			library_from = object->dlpi_addr + part->p_vaddr;
			library_to = library_from + part->p_memsz;
		}
	}
	return 1;
}

static inline void find_library(void) { dl_iterate_phdr(is_library, NULL); }

static inline bool in_library(const void *caller)
{
	return (uintptr_t)caller - library_from < library_to - library_from;
}

#endif
