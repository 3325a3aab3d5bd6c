// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* For programs that test what only the preload library has. */
#ifndef CHECK_H
#define CHECK_H

#include "common.h"

static int failures;

static inline void check(const char *text, int good)
{
	failures += !good;
	say("%s %s", good ? "ok" : "not-ok", text);
}

#define CHECK(condition) check(#condition, !!(condition))
/* A call that must fail in this way. */
#define FAILS(call, number)                                                       \
	do {                                                                      \
		errno = 0;                                                        \
		long got_ = (long)(call);                                         \
		int error_ = errno;                                               \
		check(#call " fails: " #number, got_ < 0 && error_ == (number));  \
		if (got_ >= 0 || error_ != (number))                              \
			say("# %ld %s", got_, errno_name(error_));                \
	} while (0)

#endif
