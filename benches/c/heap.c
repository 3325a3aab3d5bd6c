/*
 * Preloaded: how many bytes of the heap the library under test holds. A block counts when it was asked for by
 * code of librdmacm.so.1; what the stand-in, libibverbs and the program ask for does not.
 */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* Where the code of the library lies; both zero until it is loaded. */
static uintptr_t from, to;
static atomic_long live;

static int find(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "/librdmacm.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			to = from + info->dlpi_phdr[i].p_memsz;
		}
	}
	return 1;
}

__attribute__((constructor)) static void start(void)
{
	dl_iterate_phdr(find, NULL);
}

long heap_live(void)
{
	return live;
}

/* Blocks are freed by the same library that asked for them. */
#define THEIRS() ((uintptr_t)__builtin_return_address(0) - from < to - from)

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
