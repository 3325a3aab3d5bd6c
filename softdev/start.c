/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The start of the soft device in a process, and what a fork means for it. Neither can wait for
 * ever: a fork goes on without a start that does not come to its end.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <stdlib.h>

enum { IDLE, STARTING, STARTED };
/* How long a fork waits for a start in another thread. */
enum { FORK_WAIT_MS = 2000, STEP_MS = 50 };

static _Atomic uint32_t state;
/* Changes with every start that ends. */
static uint32_t ended;

static int start(void)
{
	int r;

	fk_kill_start();
	r = fk_kernel_open();

	if (r < 0)
		return -r;
	fk_log_start(getenv("RDMAFAKE_LOG"));
	if (!r)
		fk_procs_reap();
	fk_proc_enter(false);
	fk_script_env(r == 1);
	if (r == 1) {
		fk_default_devices();
		fk_kernel_ready();
	}
	fk_kernel_close();
	return 0;
}

static void wait_for_start(int ms)
{
	for (; ms > 0; ms -= STEP_MS) {
		uint32_t seen = __atomic_load_n(&ended, __ATOMIC_SEQ_CST);

		if (atomic_load(&state) != STARTING)
			return;
		fk_futex_wait(&ended, seen, STEP_MS);
	}
}

/* 0, or why there is no device; the next call tries again. */
int fk_start(void)
{
	int err = errno, r = 0;
	uint32_t now;

	if (atomic_load_explicit(&state, memory_order_acquire) == STARTED)
		return 0;
	fk_shield();
	for (;;) {
		now = IDLE;
		if (atomic_compare_exchange_strong(&state, &now, STARTING)) {
			r = start();
			atomic_store(&state, r ? IDLE : STARTED);
			fk_futex_wake(&ended);
			break;
		}
		if (now == STARTED)
			break;
		wait_for_start(STEP_MS);
	}
	fk_unshield();
	errno = err;
	return r;
}

static void before_fork(void)
{
	fk_shield();
	/* A child of half a start would never be known. */
	wait_for_start(FORK_WAIT_MS);
	fk_rules_fork(0);
	fk_log_fork(0);
	if (atomic_load(&state) == STARTED)
		fk_fds_lend();
}

static void after_fork_parent(void)
{
	fk_log_fork(1);
	fk_rules_fork(1);
	if (atomic_load(&state) == STARTED)
		fk_helper_want();
	fk_unshield();
}

static void after_fork_child(void)
{
	fk_log_fork(2);
	fk_rules_fork(2);
	if (atomic_load(&state) == STARTED) {
		fk_helper_fork();
		fk_proc_enter(true);
	} else {
		fk_k = NULL;
		atomic_store(&state, IDLE);
	}
	fk_unshield();
}

/* Before there can be anything to inherit. */
__attribute__((constructor)) static void loaded(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
