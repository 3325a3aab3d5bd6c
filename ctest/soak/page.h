// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What all processes of a soak share: figures in a file that each of them maps, chance, and the watch over calls that
 * take too long. Killed processes leave their figures behind. */
#ifndef PAGE_H
#define PAGE_H

#include "../rsocket/check.h"
#include <malloc.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The driver reads and writes them by name (`soak names`). */
#define FIELDS(F)                                                                                                    \
	/* Set by the driver. An odd generation: the device is going, gone, or back for a moment only. */            \
	F(generation) F(pause) F(stop) F(patience) F(hang_limit) F(largest)                                          \
	/* What was done. */                                                                                         \
	F(connections) F(complete) F(sent) F(received) F(datagrams) F(datagrams_lost) F(forks) F(refused)            \
	/* What may never be. */                                                                                     \
	F(wrong) F(hangs) F(crashes)                                                                                 \
	/* Of the long-lived server. */                                                                              \
	F(ready) F(busy) F(heap) F(ids) F(qps) F(cqs) F(mrs) F(pds) F(contexts) F(channels)

enum { ERRORS = 160, SLOTS = 64 };

typedef _Atomic uint64_t figure;

struct page {
#define FIELD(name) figure name;
	FIELDS(FIELD)
#undef FIELD
	/* By errno; [0] is an end of the stream that came too early. */
	figure expected[ERRORS], unexpected[ERRORS];
};

static struct page *page;
static const char *role = "?";

/* Chance: splitmix64. Each thread has its own, made from the seed. */
static __thread uint64_t chance;

static inline uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline uint64_t any(void) { return mix(chance += 0x9e3779b97f4a7c15u); }
static inline uint64_t below(uint64_t n) { return any() % n; }
static inline int percent(unsigned n) { return below(100) < n; }

/* As many small ones as large ones. */
static inline uint64_t any_size(uint64_t largest)
{
	unsigned bits = 0;

	while (largest >> bits)
		bits++;
	return percent(5) ? 0 : any() % ((uint64_t)2 << below(bits)) % (largest + 1);
}

static inline void map_page(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);

	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED) {
		perror(path);
		exit(2);
	}
	close(file);
}

/* A line in the log of all. */
__attribute__((format(printf, 1, 2))) static inline void note(const char *format, ...)
{
	char text[600];
	va_list list;
	int n = snprintf(text, sizeof text, "%.1f %s %d.%ld ", now(), role, getpid(), syscall(SYS_gettid));

	va_start(list, format);
	n += vsnprintf(text + n, sizeof text - n - 1, format, list);
	va_end(list);
	if (n > (int)sizeof text - 2)
		n = sizeof text - 2;
	text[n++] = '\n';
	if (write(2, text, n) < 0)
		_exit(2);
}

/* The call that each thread is in. */
static struct slot {
	_Atomic(const char *) name;
	_Atomic double since;
	_Atomic int taken, told;
	long thread;
} slots[SLOTS];

static __thread struct slot *slot;

static inline struct slot *own_slot(void)
{
	for (int i = 0; !slot && i < SLOTS; i++) {
		if (!atomic_exchange(&slots[i].taken, 1)) {
			slot = &slots[i];
			slot->thread = syscall(SYS_gettid);
		}
	}
	if (!slot) {
		note("more threads than slots");
		_exit(2);
	}
	return slot;
}

static inline void leave_slot(void)
{
	if (slot)
		slot->taken = 0;
	slot = NULL;
}

#define TIMED(call)                                                        \
	({                                                                 \
		struct slot *slot_ = own_slot();                           \
		slot_->since = now();                                      \
		slot_->name = #call;                                       \
		errno = 0;                                                 \
		__typeof__(call) value_ = (call);                          \
		slot_->name = NULL;                                        \
		if (slot_->told) {                                         \
			slot_->told = 0;                                   \
			note("%s ended after %.1f s", #call, now() - slot_->since); \
		}                                                          \
		value_;                                                    \
	})

static inline _Noreturn void *watch(void *arg)
{
	(void)arg;
	for (;;) {
		usleep(500000);
		for (int i = 0; i < SLOTS; i++) {
			const char *name = slots[i].name;
			double lasts = now() - slots[i].since;

			if (!name || slots[i].told || lasts < (double)page->hang_limit)
				continue;
			slots[i].told = 1;
			page->hangs++;
			note("HANG thread %ld: %s for %.1f s", slots[i].thread, name, lasts);
		}
	}
}

static inline void spawn(void *(*body)(void *), void *arg)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, body, arg)) {
		note("no thread: %s", errno_name(errno));
		_exit(2);
	}
	pthread_attr_destroy(&attributes);
}

/* In a child of fork there are no other threads. */
static inline void forget_threads(void)
{
	memset(slots, 0, sizeof slots);
	slot = NULL;
}

/* Whether the device was there all the time since `then`. */
static inline int calm_since(uint64_t then)
{
	return !(then & 1) && page->generation == then;
}

static inline void failed(int expected, int error, const char *what, uint64_t seed, const char *detail)
{
	int kind = error >= 0 && error < ERRORS ? error : ERRORS - 1;

	if (expected) {
		page->expected[kind]++;
		return;
	}
	page->unexpected[kind]++;
	note("UNEXPECTED %s: %s, seed %#lx %s", what, error ? errno_name(error) : "end", seed, detail);
}

#endif
