/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The C library's own functions behind the ones that this object interposes. */
#ifndef FK_REAL_H
#define FK_REAL_H

#define _GNU_SOURCE 1
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

typedef void (*fk_handler)(int);

/* X(return type, name, parameters) */
#define FK_REAL_LIST(X) \
	X(ssize_t, write, (int, const void *, size_t)) \
	X(ssize_t, read, (int, void *, size_t)) \
	X(int, close, (int)) \
	X(int, open, (const char *, int, ...)) \
	X(int, openat, (int, const char *, int, ...)) \
	X(int, close_range, (unsigned int, unsigned int, int)) \
	X(int, dup, (int)) \
	X(int, dup2, (int, int)) \
	X(int, dup3, (int, int, int)) \
	X(int, fcntl, (int, int, ...)) \
	X(int, access, (const char *, int)) \
	X(int, fstat, (int, struct stat *)) \
	X(int, stat, (const char *, struct stat *)) \
	X(int, lstat, (const char *, struct stat *)) \
	X(int, fstatat, (int, const char *, struct stat *, int)) \
	X(int, statx, (int, const char *, int, unsigned int, struct statx *)) \
	X(FILE *, fopen, (const char *, const char *)) \
	X(int, socket, (int, int, int)) \
	X(int, connect, (int, const struct sockaddr *, socklen_t)) \
	X(ssize_t, send, (int, const void *, size_t, int)) \
	X(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t)) \
	X(ssize_t, sendmsg, (int, const struct msghdr *, int)) \
	X(ssize_t, recvmsg, (int, struct msghdr *, int)) \
	X(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *)) \
	X(int, sigaction, (int, const struct sigaction *, struct sigaction *)) \
	X(fk_handler, signal, (int, fk_handler)) \
	X(pid_t, fork, (void)) \
	X(int, setuid, (uid_t)) \
	X(int, seteuid, (uid_t)) \
	X(int, setreuid, (uid_t, uid_t)) \
	X(int, setresuid, (uid_t, uid_t, uid_t)) \
	X(int, setgid, (gid_t)) \
	X(int, setegid, (gid_t)) \
	X(int, setregid, (gid_t, gid_t)) \
	X(int, setresgid, (gid_t, gid_t, gid_t)) \
	X(int, setgroups, (size_t, const gid_t *)) \
	X(int, initgroups, (const char *, gid_t)) \
	X(void, _exit, (int))

/* The thread sanitizer calls these before its own functions can be called. */
#define FK_REAL_DECL(ret, name, args) __attribute__((no_sanitize("thread"))) ret (*fk_real_##name(void)) args;
FK_REAL_LIST(FK_REAL_DECL)

#define REAL(name) fk_real_##name()

#define FK_EXPORT __attribute__((visibility("default")))

#endif
