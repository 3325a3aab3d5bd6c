// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the stress programs share: a time limit, a counter of failures, and quick ids. */
#ifndef CTEST_STRESS_H
#define CTEST_STRESS_H

#include "../cm/trace.h"

#include <stdatomic.h>
#include <time.h>

static atomic_int failures;

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			failures++; \
			fprintf(stderr, "line %d: %s failed: %s\n", __LINE__, #condition, strerror(errno)); \
		} \
	} while (0)

/* Rounds of each thread; RDMA_STRESS_ROUNDS makes them more or fewer. */
static inline int rounds(int normal)
{
	const char *text = getenv("STRESS_ROUNDS");

	return text ? atoi(text) : normal;
}

static inline int end(const char *what)
{
	struct rdmafake_live live = { 0 };

	RDMAFAKE(rdmafake_live)(&live);
	CHECK(live.ids == 0);
	CHECK(live.channels == 0);
	CHECK(live.events == 0);
	CHECK(live.qps == 0 && live.cqs == 0 && live.channels_cq == 0 && live.mrs == 0);
	CHECK(live.multicasts == 0);
	printf("%s: %d failures\n", what, (int)failures);
	return failures ? 1 : 0;
}

#endif
