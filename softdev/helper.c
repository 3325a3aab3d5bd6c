/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One helper thread, and only where it is needed: for timers a script asks for, to wake this process
 * for events that another process caused, and to end what the dead have left.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

enum { FK_TIMERS = 4096, TICK_MS = 100 };

struct timer {
	uint64_t due;
	void (*fn)(uint64_t);
	uint64_t arg;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer timers[FK_TIMERS];
static int ntimers;
static _Atomic int running;
uint64_t fk_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void fk_futex_wait(uint32_t *word, uint32_t seen, unsigned ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &ts, NULL, 0);
}

void fk_futex_wake(uint32_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Runs what is due; gives the time until the next. */
static unsigned run_timers(void)
{
	uint64_t now = fk_now_ms();
	unsigned next = TICK_MS;

	fk_hold(&lock);
	for (int i = 0; i < ntimers; ) {
		struct timer t = timers[i];

		if (t.due > now) {
			if (t.due - now < next)
				next = (unsigned)(t.due - now);
			i++;
			continue;
		}
		timers[i] = timers[--ntimers];
		fk_let_go(&lock);
		t.fn(t.arg);
		fk_hold(&lock);
		i = 0;
	}
	fk_let_go(&lock);
	return next ? next : 1;
}

static void pay_wakes(void)
{
	fk_lock();
	for (uint32_t i = 1; i <= fk_k->chan.pool.high; i++) {
		int fd = fk_chanp(i)->wake_owed ? fk_chan_fd(i) : -1;

		if (fd >= 0)
			fk_wake_add(i, fd);
	}
	fk_unlock();
	fk_verbs_pay_wakes();
}

/* A killed process cannot say goodbye: whoever is left does it. */
static void look_for_dead(void)
{
	static uint64_t last;
	uint64_t now = fk_now_ms();

	if (now - last < TICK_MS)
		return;
	last = now;
	fk_procs_reap();
}

static void *work(void *arg)
{
	uint32_t *word = fk_proc_word(), alone = 0;

	(void)arg;
	word = word ? word : &alone;
	for (;;) {
		uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
		unsigned ms = run_timers();

		if (fk_shared()) {
			pay_wakes();
			look_for_dead();
		}
		fk_futex_wait(word, seen, ms);
	}
	return NULL;
}

void fk_helper_want(void)
{
	pthread_attr_t attr;
	pthread_t t;
	sigset_t all, old;
	int idle = 0, err = errno;

	if (!atomic_compare_exchange_strong(&running, &idle, 1))
		return;
	/* Signals are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&t, &attr, work, NULL))
		atomic_store(&running, 0);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
}

void fk_helper_fork(void)
{
	memset(&lock, 0, sizeof(lock));
	ntimers = 0;
	atomic_store(&running, 0);
}

void fk_timer(unsigned ms, void (*fn)(uint64_t), uint64_t arg)
{
	fk_hold(&lock);
	if (ntimers < FK_TIMERS)
		timers[ntimers++] = (struct timer) { fk_now_ms() + ms, fn, arg };
	fk_let_go(&lock);
	fk_helper_want();
	if (fk_proc_word())
		fk_futex_wake(fk_proc_word());
}
