/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Changes of credentials. The kernel compares those of an open file with those of the one who writes,
 * and every change makes new ones, even to the same user.
 */
#include "real.h"
#include "fake.h"

#include <grp.h>

static _Atomic uint32_t changes;

uint32_t fk_credentials(void)
{
	return atomic_load_explicit(&changes, memory_order_relaxed);
}

static int changed(int r)
{
	if (!r)
		atomic_fetch_add(&changes, 1);
	return r;
}

FK_EXPORT int setuid(uid_t u) { return changed(REAL(setuid)(u)); }
FK_EXPORT int seteuid(uid_t u) { return changed(REAL(seteuid)(u)); }
FK_EXPORT int setreuid(uid_t r, uid_t e) { return changed(REAL(setreuid)(r, e)); }
FK_EXPORT int setresuid(uid_t r, uid_t e, uid_t s) { return changed(REAL(setresuid)(r, e, s)); }
FK_EXPORT int setgid(gid_t g) { return changed(REAL(setgid)(g)); }
FK_EXPORT int setegid(gid_t g) { return changed(REAL(setegid)(g)); }
FK_EXPORT int setregid(gid_t r, gid_t e) { return changed(REAL(setregid)(r, e)); }
FK_EXPORT int setresgid(gid_t r, gid_t e, gid_t s) { return changed(REAL(setresgid)(r, e, s)); }
FK_EXPORT int setgroups(size_t n, const gid_t *list) { return changed(REAL(setgroups)(n, list)); }
FK_EXPORT int initgroups(const char *user, gid_t g) { return changed(REAL(initgroups)(user, g)); }
