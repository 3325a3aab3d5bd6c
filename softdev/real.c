/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/*
 * Resolved at first use and not in a constructor: sanitizer run times call
 * these functions before any constructor of ours has run.
 */
#define FK_REAL_DEF(ret, name, args) \
	ret (*fk_real_##name(void)) args \
	{ \
		static _Atomic(void *) found; \
		void *p = atomic_load_explicit(&found, memory_order_relaxed); \
		ret (*fn) args; \
		if (!p) { \
			p = dlsym(RTLD_NEXT, #name); \
			atomic_store_explicit(&found, p, memory_order_relaxed); \
		} \
		memcpy(&fn, &p, sizeof(fn)); \
		return fn; \
	}
FK_REAL_LIST(FK_REAL_DEF)
