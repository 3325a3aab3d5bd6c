/*
 * One helper thread, and only where it is needed: for timers a script asks
 * for, and to wake this process for events that another process caused.
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
static uint32_t me;
static pid_t my_pid;

pid_t fk_pid(void)
{
	return my_pid;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void futex_wait(uint32_t *word, uint32_t seen, unsigned ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &ts, NULL, 0);
}

static void kick(uint32_t proc)
{
	uint32_t *word = &fk_k->proc[proc].seq;

	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE, 64, NULL, NULL, 0);
}

bool fk_my_pid_is(pid_t pid)
{
	return my_pid == pid;
}

void fk_proc_enter(void)
{
	my_pid = getpid();
	fk_lock();
	me = UINT32_MAX;
	for (uint32_t i = 0; i < FK_MAX_PROC; i++)
		if (!fk_k->proc[i].pid || (kill(fk_k->proc[i].pid, 0) && errno == ESRCH)) {
			fk_k->proc[i].pid = my_pid;
			me = i;
			break;
		}
	fk_k->nprocs++;
	fk_unlock();
}

/* Runs what is due; gives the time until the next. */
static unsigned run_timers(void)
{
	uint64_t now = now_ms();
	unsigned next = TICK_MS;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < ntimers; ) {
		struct timer t = timers[i];

		if (t.due > now) {
			if (t.due - now < next)
				next = (unsigned)(t.due - now);
			i++;
			continue;
		}
		timers[i] = timers[--ntimers];
		pthread_mutex_unlock(&lock);
		t.fn(t.arg);
		pthread_mutex_lock(&lock);
		i = 0;
	}
	pthread_mutex_unlock(&lock);
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
	uint64_t now = now_ms();
	pid_t dead = 0;

	if (now - last < TICK_MS)
		return;
	last = now;
	for (uint32_t i = 0; i < FK_MAX_PROC; i++) {
		pid_t pid = fk_k->proc[i].pid;

		if (!pid || i == me || !fk_pid_gone(pid))
			continue;
		fk_lock();
		if (fk_k->proc[i].pid == pid) {
			fk_k->proc[i].pid = 0;
			dead = pid;
		}
		fk_unlock();
		if (dead)
			fk_process_gone(dead);
		dead = 0;
	}
}

static void *work(void *arg)
{
	(void)arg;
	for (;;) {
		uint32_t seen = me == UINT32_MAX ? 0 :
			__atomic_load_n(&fk_k->proc[me].seq, __ATOMIC_SEQ_CST);
		unsigned ms = run_timers();

		if (fk_k->nprocs > 1 || fk_k->shared) {
			pay_wakes();
			look_for_dead();
		}
		if (me == UINT32_MAX)
			usleep(ms * 1000);
		else
			futex_wait(&fk_k->proc[me].seq, seen, ms);
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

void fk_wake_remote(void)
{
	for (uint32_t i = 0; i < FK_MAX_PROC; i++)
		if (i != me && fk_k->proc[i].pid)
			kick(i);
}

void fk_timer(unsigned ms, void (*fn)(uint64_t), uint64_t arg)
{
	pthread_mutex_lock(&lock);
	if (ntimers < FK_TIMERS)
		timers[ntimers++] = (struct timer) { now_ms() + ms, fn, arg };
	pthread_mutex_unlock(&lock);
	fk_helper_want();
	if (me != UINT32_MAX)
		kick(me);
}
