/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a process changes in the shared kernel while it holds a lock is all done or not at all, even if
 * it is killed in between: every store keeps the old value first, and whoever takes the lock after a
 * dead holder puts the old values back, the last one first.
 *
 * The compiler says which stores there are: with -fsanitize=kernel-address it calls a function before
 * each (the Makefile asks for stores alone, and for the call), and the linker sends memcpy and its like
 * here (--wrap). This file is compiled without. A compiler that cannot do that, or a sanitizer of
 * another kind, makes a device that works the same for everybody who is not killed.
 *
 * RDMAFAKE_KILL=CALL:N tests it: the process kills itself before the N-th store of such a call.
 */
#include "real.h"
#include "fake.h"

#include <stdlib.h>
#include <string.h>

/*
 * An entry ends with a word of its offset and length, so that entries can be read from the end. Before
 * it stands the old value; where that is longer than a word, its length, and before that the bytes.
 */
enum { LENGTH_BITS = 4, LONG = 15 };

#define ROUNDED(n) (((n) + 7) & ~7ULL)

enum { NESTED = 4, NAME = 32 };

static __thread __attribute__((tls_model("initial-exec"))) struct {
	/* The locks that are held, the last one taken on top. */
	struct fk_guard *guard[NESTED];
	int depth;
	/* The call to be killed in, and its stores so far. */
	bool counted;
	uint64_t stores;
} my;

/* Bytes of the mapping. */
static _Atomic uint64_t fk_size;

static char kill_name[NAME];
static uint64_t kill_store;
static _Atomic bool kill_wanted;

void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__real_memset(void *to, int byte, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);
void *__wrap_memset(void *to, int byte, size_t n);

void fk_undo_begin(struct fk_guard *g)
{
	atomic_store_explicit(&fk_size, fk_k->head.size, memory_order_relaxed);
	if (my.depth < NESTED)
		my.guard[my.depth] = g;
	my.depth++;
}

void fk_undo_end(struct fk_guard *g)
{
	my.depth--;
	atomic_store(&g->used, 0);
}

static uint64_t word(const struct fk_guard *g, uint64_t at)
{
	return ((const uint64_t *)(const void *)g->log)[at / 8];
}

void fk_undo_run(struct fk_guard *g)
{
	uint64_t used = atomic_load(&g->used);

	/* Who dies at this is followed by one who begins again: the entries stay until the end. */
	while (used) {
		uint64_t off = word(g, used -= 8), len = off & LONG;

		off >>= LENGTH_BITS;
		if (len == LONG)
			len = word(g, used -= 8);
		used -= ROUNDED(len);
		__real_memcpy((char *)fk_k + off, g->log + used, len);
	}
	atomic_store(&g->used, 0);
}

static void count_store(void)
{
	if (++my.stores == kill_store)
		kill(getpid(), SIGKILL);
}

/* Inlined with a length that is known, but for the long ones. */
static inline __attribute__((always_inline)) void keep(uint64_t addr, uint64_t len)
{
	uint64_t off = addr - (uintptr_t)fk_k, used, room = ROUNDED(len) + (len > 8 ? 16 : 8);
	struct fk_guard *g;
	uint8_t *to;

	if (!my.depth || off >= atomic_load_explicit(&fk_size, memory_order_relaxed))
		return;
	g = my.guard[(my.depth < NESTED ? my.depth : NESTED) - 1];
	used = atomic_load_explicit(&g->used, memory_order_relaxed);
	/* Who changes that much in one go has it done up to here. */
	if (used + room > FK_UNDO_ROOM)
		used = 0;
	if (room > FK_UNDO_ROOM)
		return;
	to = g->log + used;
	/* Not a call, which would come back here, where the compiler knows the length. */
	if (__builtin_constant_p(len))
		__builtin_memcpy(to, (char *)fk_k + off, len);
	else
		__real_memcpy(to, (char *)fk_k + off, len);
	if (len > 8)
		*(uint64_t *)(void *)(to + room - 16) = len;
	*(uint64_t *)(void *)(to + room - 8) = off << LENGTH_BITS | (len > 8 ? LONG : len);
	atomic_store_explicit(&g->used, used + room, memory_order_release);
	if (my.counted)
		count_store();
}

/* CALL:N; N is 0 for a call whose stores are to be counted and told. */
void fk_kill_start(void)
{
	const char *env = getenv("RDMAFAKE_KILL"), *colon = env ? strrchr(env, ':') : NULL;

	if (!colon || (size_t)(colon - env) >= sizeof(kill_name))
		return;
	__real_memcpy(kill_name, env, (size_t)(colon - env));
	kill_store = strtoull(colon + 1, NULL, 10);
	atomic_store(&kill_wanted, true);
}

void fk_kill_point(const char *call)
{
	if (!atomic_load_explicit(&kill_wanted, memory_order_relaxed))
		return;
	if (my.counted && !kill_store)
		fk_say("stores of %s: %llu", kill_name, (unsigned long long)my.stores);
	if (my.counted)
		atomic_store(&kill_wanted, false);
	my.counted = !my.counted && !strcmp(call, kill_name);
	my.stores = 0;
}

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
	keep((uintptr_t)to, n);
	return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
	keep((uintptr_t)to, n);
	return __real_memmove(to, from, n);
}

void *__wrap_memset(void *to, int byte, size_t n)
{
	keep((uintptr_t)to, n);
	return __real_memset(to, byte, n);
}

/* The names are the compilers'. Reads are of no interest. */
#define STORE(n) \
	void __asan_store##n##_noabort(uintptr_t addr); \
	void __asan_store##n##_noabort(uintptr_t addr) { keep(addr, n); } \
	void __asan_load##n##_noabort(uintptr_t addr); \
	void __asan_load##n##_noabort(uintptr_t addr) { (void)addr; }
STORE(1)
STORE(2)
STORE(4)
STORE(8)
STORE(16)

void __asan_storeN_noabort(uintptr_t addr, size_t n);
void __asan_loadN_noabort(uintptr_t addr, size_t n);
void __asan_handle_no_return(void);

void __asan_storeN_noabort(uintptr_t addr, size_t n)
{
	keep(addr, n);
}

void __asan_loadN_noabort(uintptr_t addr, size_t n)
{
	(void)addr;
	(void)n;
}

void __asan_handle_no_return(void)
{
}
