/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Interposed file calls: the rdma_cm node and its sysfs files. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <linux/close_range.h>
#include <string.h>
#include <sys/mman.h>

static const char node_path[] = "/dev/infiniband/rdma_cm";

static const char *sysfs_text(const char *path)
{
	if (!strcmp(path, "/sys/class/misc/rdma_cm/abi_version"))
		return "4\n";
	if (!strcmp(path, "/sys/class/misc/rdma_cm/dev"))
		return "10:58\n";
	return NULL;
}

static int text_file(const char *text, int flags)
{
	int fd = memfd_create("rdmafake", (flags & O_CLOEXEC) ? MFD_CLOEXEC : 0);

	if (fd < 0)
		return -1;
	if (REAL(write)(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		REAL(close)(fd);
		return -1;
	}
	return fd;
}

/* 1 when the path is one of ours; *fd then has the result. */
static int open_ours(const char *path, int flags, int *fd)
{
	const char *text;
	int err;

	if (!path || (path[0] != '/') || (path[1] != 'd' && path[1] != 's'))
		return 0;
	text = sysfs_text(path);
	if (!text && strcmp(path, node_path))
		return 0;
	err = fk_start();
	if (!err)
		err = fk_plan_path(text ? "sysfs" : "node");
	if (err) {
		errno = err;
		*fd = -1;
	} else {
		*fd = text ? text_file(text, flags) : fk_chan_open(flags);
	}
	return 1;
}

static int do_open(int at, const char *path, int flags, mode_t mode)
{
	char room[FK_PATH_ROOM];
	int fd;

	if (open_ours(path, flags, &fd))
		return fd;
	path = fk_map_path(path, room, sizeof(room));
	return at == AT_FDCWD ? REAL(open)(path, flags, mode) :
				REAL(openat)(at, path, flags, mode);
}

#define WITH_MODE(flags) \
	mode_t mode = 0; \
	if ((flags) & (O_CREAT | O_TMPFILE)) { \
		va_list ap; \
		va_start(ap, flags); \
		mode = (mode_t)va_arg(ap, int); \
		va_end(ap); \
	}

FK_EXPORT int open(const char *path, int flags, ...)
{
	WITH_MODE(flags)
	return do_open(AT_FDCWD, path, flags, mode);
}

FK_EXPORT int open64(const char *path, int flags, ...)
{
	WITH_MODE(flags)
	return do_open(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

FK_EXPORT int openat(int at, const char *path, int flags, ...)
{
	WITH_MODE(flags)
	return do_open(at, path, flags, mode);
}

FK_EXPORT int openat64(int at, const char *path, int flags, ...)
{
	WITH_MODE(flags)
	return do_open(at, path, flags | O_LARGEFILE, mode);
}

FK_EXPORT int __open_2(const char *path, int flags);
FK_EXPORT int __open_2(const char *path, int flags)
{
	return do_open(AT_FDCWD, path, flags, 0);
}

FK_EXPORT int __open64_2(const char *path, int flags);
FK_EXPORT int __open64_2(const char *path, int flags)
{
	return do_open(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}

FK_EXPORT FILE *fopen(const char *path, const char *mode)
{
	char room[FK_PATH_ROOM];
	int fd;

	if (!path || !sysfs_text(path))
		return REAL(fopen)(fk_map_path(path, room, sizeof(room)), mode);
	return open_ours(path, O_CLOEXEC, &fd) && fd >= 0 ? fdopen(fd, "r") : NULL;
}

FK_EXPORT FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

FK_EXPORT ssize_t write(int fd, const void *buf, size_t len)
{
	uint32_t chan;

	switch (fk_fd_kind(fd, &chan)) {
	case FK_FD_CHAN:
		return fk_command(fd, chan, buf, len);
	case FK_FD_NETLINK:
		return send(fd, buf, len, 0);
	default:
		return REAL(write)(fd, buf, len);
	}
}

FK_EXPORT ssize_t read(int fd, void *buf, size_t len)
{
	if (fk_fd_kind(fd, NULL) == FK_FD_CHAN) {
		errno = EINVAL;
		return -1;
	}
	return REAL(read)(fd, buf, len);
}

FK_EXPORT int close(int fd)
{
	if (fk_fd_kind(fd, NULL) != FK_FD_NONE)
		fk_fd_closing(fd);
	return REAL(close)(fd);
}

FK_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	if (!(flags & CLOSE_RANGE_CLOEXEC))
		for (unsigned int fd = first; fd <= last && fd < FK_FD_MAX; fd++)
			if (fk_fd_kind((int)fd, NULL) != FK_FD_NONE)
				fk_fd_closing((int)fd);
	return REAL(close_range)(first, last, flags);
}

FK_EXPORT int dup(int fd)
{
	int copy = REAL(dup)(fd);

	if (copy >= 0)
		fk_fd_copied(fd, copy);
	return copy;
}

FK_EXPORT int dup2(int fd, int to)
{
	int copy;

	if (fd != to && fk_fd_kind(to, NULL) != FK_FD_NONE)
		fk_fd_closing(to);
	copy = REAL(dup2)(fd, to);
	if (copy >= 0 && fd != to)
		fk_fd_copied(fd, to);
	return copy;
}

FK_EXPORT int dup3(int fd, int to, int flags)
{
	int copy;

	if (fd != to && fk_fd_kind(to, NULL) != FK_FD_NONE)
		fk_fd_closing(to);
	copy = REAL(dup3)(fd, to, flags);
	if (copy >= 0)
		fk_fd_copied(fd, to);
	return copy;
}

FK_EXPORT pid_t fork(void)
{
	pid_t pid = REAL(fork)();

	if (pid > 0)
		fk_proc_forked(pid);
	return pid;
}

/* Arguments are integers or pointers: both are one register wide. */
#define FCNTL(name)                                                             \
	FK_EXPORT int name(int fd, int command, ...)                            \
	{                                                                       \
		va_list list;                                                   \
		long argument;                                                  \
		int result;                                                     \
                                                                                \
		va_start(list, command);                                        \
		argument = va_arg(list, long);                                  \
		va_end(list);                                                   \
		result = REAL(fcntl)(fd, command, argument);                    \
		if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) \
			fk_fd_copied(fd, result);                               \
		return result;                                                  \
	}

FCNTL(fcntl)
FCNTL(fcntl64)

FK_EXPORT void _exit(int status)
{
	fk_proc_leave();
	REAL(_exit)(status);
	__builtin_unreachable();
}

FK_EXPORT void _Exit(int status)
{
	_exit(status);
}

/* A process that calls exit ends after the destructors of all libraries, which may still use the device: the
 * others find it gone, like one that was killed. */
