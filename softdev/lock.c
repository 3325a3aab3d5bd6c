/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The locks of the shared state. As with a device, no process can hold up the others: what one had
 * begun that died inside is taken back, one that was stopped inside finishes first and stops then.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

/* Between two looks at who holds a lock. */
enum { STEP_MS = 20 };

/*
 * As in a kernel, a thread that holds a lock takes no signal and is not cancelled: a handler could
 * fork, exit or come back for the lock. And what happens in here must not show in the program's errno.
 */
static __thread struct {
	int depth, cancel_state, errno_before;
	bool masked;
	sigset_t mask;
} shield;

/* Set once the program handles signals: before, there is nothing to keep away. */
static _Atomic bool handlers;

void fk_shield(void)
{
	static sigset_t all;
	int err = errno, old;

	if (shield.depth++)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	shield.cancel_state = old;
	shield.errno_before = err;
	shield.masked = atomic_load_explicit(&handlers, memory_order_relaxed);
	if (!shield.masked)
		return;
	sigfillset(&all);
	/* These are of the instruction itself and come in any case. */
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &shield.mask);
}

void fk_unshield(void)
{
	if (--shield.depth)
		return;
	if (shield.masked)
		pthread_sigmask(SIG_SETMASK, &shield.mask, NULL);
	errno = shield.errno_before;
	pthread_setcancelstate(shield.cancel_state, NULL);
}

void fk_signals_handled(void)
{
	atomic_store_explicit(&handlers, true, memory_order_relaxed);
}

void fk_hold(pthread_mutex_t *own)
{
	fk_shield();
	pthread_mutex_lock(own);
}

bool fk_hold_within(pthread_mutex_t *own, int ms)
{
	struct timespec until;

	fk_shield();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	if (!pthread_mutex_timedlock(own, &until))
		return true;
	fk_unshield();
	return false;
}

void fk_let_go(pthread_mutex_t *own)
{
	pthread_mutex_unlock(own);
	fk_unshield();
}

static int take(pthread_mutex_t *mutex)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += STEP_MS * 1000000L;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return pthread_mutex_timedlock(mutex, &until);
}

/* The thread inside. The kernel reads the number of a robust mutex too, so its place is for ever. */
static pid_t holder(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK;
}

/* Lets a holder that was stopped go on to its release. */
static void push_on(const pthread_mutex_t *mutex)
{
	pid_t tid = holder(mutex), before = atomic_load(&fk_k->stop_later);

	if (!tid || fk_thread_state(tid) != 'T' || holder(mutex) != tid)
		return;
	if (before && before != tid && !fk_pid_gone(before))
		return;
	if (atomic_compare_exchange_strong(&fk_k->stop_later, &before, tid))
		kill(tid, SIGCONT);
}

/* ms: 0 for as long as it takes. In steps, for one that ends just when it is woken takes the wake-up with it. */
static bool lock_within(struct fk_guard *guard, int ms)
{
	pthread_mutex_t *mutex = &guard->mutex;
	int r, waited = 0;

	fk_shield();
	r = pthread_mutex_trylock(mutex);
	while ((r == EBUSY || r == ETIMEDOUT) && (!ms || waited < ms)) {
		r = take(mutex);
		if (r == ETIMEDOUT) {
			push_on(mutex);
			waited += STEP_MS;
		}
	}
	if (r == EBUSY || r == ETIMEDOUT) {
		fk_unshield();
		return false;
	}
	if (r == EOWNERDEAD) {
		fk_undo_run(guard);
		pthread_mutex_consistent(mutex);
	}
	/* Not with another lock, which the leaving thread wants. */
	if (shield.depth == 1 && fk_proc_left()) {
		pthread_mutex_unlock(mutex);
		for (;;)
			pause();
	}
	fk_undo_begin(guard);
	return true;
}

void fk_lock_take(struct fk_guard *guard)
{
	lock_within(guard, 0);
}

void fk_lock_give(struct fk_guard *guard)
{
	pid_t later;

	fk_undo_end(guard);
	pthread_mutex_unlock(&guard->mutex);
	later = atomic_load(&fk_k->stop_later);
	if (shield.depth == 1 && later && later == gettid() &&
	    atomic_compare_exchange_strong(&fk_k->stop_later, &later, 0))
		kill(getpid(), SIGSTOP);
	fk_unshield();
}

void fk_lock(void)
{
	fk_lock_take(&fk_k->lock);
}

bool fk_lock_within(int ms)
{
	return lock_within(&fk_k->lock, ms);
}

void fk_unlock(void)
{
	fk_lock_give(&fk_k->lock);
}
