/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Interposed stat calls: the node must look like a character device. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

enum { FK_MAJOR = 10, FK_MINOR = 58 };

static void as_node(struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0666;
	st->st_nlink = 1;
	st->st_blksize = 4096;
	st->st_rdev = makedev(FK_MAJOR, FK_MINOR);
}

static int node_path(const char *path)
{
	return path && !strcmp(path, "/dev/infiniband/rdma_cm");
}

/* A path may be NULL with AT_EMPTY_PATH on newer kernels. */
static int own_fd(int at, const char *path, int flags)
{
	return (flags & AT_EMPTY_PATH) && (!path || !*path) && fk_fd_kind(at, NULL) == FK_FD_CHAN;
}

/* 1: ours and answered, 0: not ours, -1: ours and failing. */
static int path_ours(const char *path)
{
	int err;

	if (!node_path(path))
		return 0;
	err = fk_start();
	if (!err)
		err = fk_plan_path("stat");
	if (!err)
		return 1;
	errno = err;
	return -1;
}

FK_EXPORT int fstat(int fd, struct stat *st)
{
	if (fk_fd_kind(fd, NULL) == FK_FD_CHAN) {
		as_node(st);
		return 0;
	}
	return REAL(fstat)(fd, st);
}

FK_EXPORT int stat(const char *path, struct stat *st)
{
	char room[FK_PATH_ROOM];
	int ours = path_ours(path);

	if (!ours)
		return REAL(stat)(fk_map_path(path, room, sizeof(room)), st);
	if (ours > 0)
		as_node(st);
	return ours > 0 ? 0 : -1;
}

FK_EXPORT int lstat(const char *path, struct stat *st)
{
	char room[FK_PATH_ROOM];

	if (node_path(path))
		return stat(path, st);
	return REAL(lstat)(fk_map_path(path, room, sizeof(room)), st);
}

FK_EXPORT int fstatat(int at, const char *path, struct stat *st, int flags)
{
	char room[FK_PATH_ROOM];

	if (node_path(path))
		return stat(path, st);
	if (own_fd(at, path, flags))
		return fstat(at, st);
	return REAL(fstatat)(at, fk_map_path(path, room, sizeof(room)), st, flags);
}

/* On the 64-bit machines that this runs on both structures are one. */
#define ALIAS64(decl, call) FK_EXPORT decl; FK_EXPORT decl { return call; }
ALIAS64(int fstat64(int fd, struct stat64 *st), fstat(fd, (struct stat *)st))
ALIAS64(int stat64(const char *path, struct stat64 *st), stat(path, (struct stat *)st))
ALIAS64(int lstat64(const char *path, struct stat64 *st), lstat(path, (struct stat *)st))
ALIAS64(int fstatat64(int at, const char *path, struct stat64 *st, int flags),
	fstatat(at, path, (struct stat *)st, flags))
ALIAS64(int __fxstat(int v, int fd, struct stat *st), ((void)v, fstat(fd, st)))
ALIAS64(int __fxstat64(int v, int fd, struct stat64 *st), ((void)v, fstat(fd, (struct stat *)st)))
ALIAS64(int __xstat(int v, const char *path, struct stat *st), ((void)v, stat(path, st)))
ALIAS64(int __xstat64(int v, const char *path, struct stat64 *st),
	((void)v, stat(path, (struct stat *)st)))

FK_EXPORT int access(const char *path, int mode)
{
	char room[FK_PATH_ROOM];
	int ours = path_ours(path);

	if (!ours)
		return REAL(access)(fk_map_path(path, room, sizeof(room)), mode);
	return ours > 0 ? 0 : -1;
}

FK_EXPORT int statx(int at, const char *asked, int flags, unsigned int mask, struct statx *stx)
{
	/* The header says that it is never NULL, and the compiler would believe it; callers probe with that. */
	const char *volatile given = asked;
	const char *path = given;
	char room[FK_PATH_ROOM];
	struct stat st;
	int r;

	if (node_path(path))
		r = stat(path, &st);
	else if (own_fd(at, path, flags))
		r = fstat(at, &st);
	else
		return REAL(statx)(at, fk_map_path(path, room, sizeof(room)), flags, mask, stx);
	if (r)
		return r;
	memset(stx, 0, sizeof(*stx));
	stx->stx_mask = STATX_BASIC_STATS;
	stx->stx_blksize = 4096;
	stx->stx_nlink = 1;
	stx->stx_mode = (uint16_t)st.st_mode;
	stx->stx_rdev_major = FK_MAJOR;
	stx->stx_rdev_minor = FK_MINOR;
	return 0;
}
