/*
 * The locks of the shared state. As with a device, no process can hold up the others: one that died
 * inside is passed over, one that was stopped inside finishes first and stops then.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

/* Between two looks at who holds a lock. */
enum { STEP_NS = 20000000 };

/*
 * A thread that is cancelled with a lock held would stop all others, and
 * what happens in here must not show in the program's errno.
 */
static __thread int cancel_state, saved_errno;
static __thread int depth;

static int take(pthread_mutex_t *mutex)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += STEP_NS;
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

	if (!tid || fk_pid_state(tid) != 'T' || holder(mutex) != tid)
		return;
	if (before && before != tid && !fk_pid_gone(before))
		return;
	if (atomic_compare_exchange_strong(&fk_k->stop_later, &before, tid))
		kill(tid, SIGCONT);
}

void fk_lock_take(pthread_mutex_t *mutex)
{
	int old, err = errno, r;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	r = pthread_mutex_trylock(mutex);
	/* In steps: a process that ends just when it is woken takes the wake-up with it. */
	while (r == EBUSY || r == ETIMEDOUT) {
		r = take(mutex);
		if (r == ETIMEDOUT)
			push_on(mutex);
	}
	/* A process died inside: its half-made change is only test state. */
	if (r == EOWNERDEAD)
		pthread_mutex_consistent(mutex);
	if (depth++)
		return;
	cancel_state = old;
	saved_errno = err;
}

void fk_lock_give(pthread_mutex_t *mutex)
{
	pid_t later;

	pthread_mutex_unlock(mutex);
	if (--depth)
		return;
	later = atomic_load(&fk_k->stop_later);
	if (later && later == gettid() && atomic_compare_exchange_strong(&fk_k->stop_later, &later, 0))
		kill(getpid(), SIGSTOP);
	errno = saved_errno;
	pthread_setcancelstate(cancel_state, NULL);
}

void fk_lock(void)
{
	fk_lock_take(&fk_k->lock);
}

void fk_unlock(void)
{
	fk_lock_give(&fk_k->lock);
}
