/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whether the program handles signals: then they are kept out while a lock is held. */
#include "real.h"
#include "fake.h"

static inline __attribute__((always_inline)) void look(int sig, fk_handler handler)
{
	/* Handlers of faults are for faults, run times have them. */
	if (handler != SIG_DFL && handler != SIG_IGN && sig != SIGSEGV && sig != SIGBUS && sig != SIGFPE &&
	    sig != SIGILL && sig != SIGTRAP)
		fk_signals_handled();
}

/* Sanitizers install their handlers before their functions can be called. */
FK_EXPORT __attribute__((no_sanitize("thread"))) int sigaction(int sig, const struct sigaction *now, struct sigaction *before)
{
	if (now)
		look(sig, now->sa_handler);
	return REAL(sigaction)(sig, now, before);
}

FK_EXPORT fk_handler signal(int sig, fk_handler handler)
{
	look(sig, handler);
	return REAL(signal)(sig, handler);
}

FK_EXPORT fk_handler bsd_signal(int sig, fk_handler handler);
FK_EXPORT fk_handler bsd_signal(int sig, fk_handler handler)
{
	return signal(sig, handler);
}
