// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The calls of libc that librdmacm makes, and only those: counted, and one of them fails. The program's definitions come
 * before those of the soft device and of libc.
 */
#include "life.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static uintptr_t library_start, library_end;
static struct site *sites;
static const char *wanted_name;
static long wanted_number;
static int wanted_error;
static _Atomic int is_hit;
/* The second life of a process is not counted. */
static _Atomic int is_counting = 1;

struct site {
	const char *name;
	_Atomic long count;
	struct site *next;
	_Atomic int listed;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	if (!strstr(info->dlpi_name, "librdmacm"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
			library_start = start;
			library_end = start + part->p_memsz;
		}
	}
	return 1;
}

void arm_libc(const char *name, long number, int error)
{
	wanted_number = number;
	wanted_error = error;
	wanted_name = name;
}

void start_hooks(void)
{
	dl_iterate_phdr(find_library, NULL);
	if (!library_start) {
		fprintf(stderr, "no librdmacm\n");
		_exit(99);
	}
}

void stop_counting(void)
{
	is_counting = 0;
}

int libc_hit(void)
{
	return is_hit;
}

void print_libc_counts(void)
{
	for (struct site *site = sites; site; site = site->next)
		printf("count libc:%s %ld\n", site->name, (long)site->count);
}

/* The error for this call, or 0. */
static int due(struct site *site, void *caller)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uintptr_t from = (uintptr_t)caller;
	long number;

	if (!library_start || from < library_start || from >= library_end || !is_counting)
		return 0;
	if (!site->listed) {
		pthread_mutex_lock(&lock);
		if (!site->listed) {
			site->next = sites;
			sites = site;
			site->listed = 1;
		}
		pthread_mutex_unlock(&lock);
	}
	number = ++site->count;
	if (!wanted_name || number != wanted_number || strcmp(wanted_name, site->name))
		return 0;
	is_hit = 1;
	return wanted_error;
}

#define NEXT(call)                                                   \
	static __typeof__(&call) next;                               \
	static struct site site = { .name = #call };                 \
	int error;                                                   \
                                                                     \
	if (!next)                                                   \
		next = (__typeof__(&call))dlsym(RTLD_NEXT, #call);   \
	error = due(&site, __builtin_return_address(0))

/* HOOK(type, call, parameters, arguments, failed) */
#define HOOK(type, call, parameters, arguments, failed)              \
	type call parameters                                         \
	{                                                            \
		NEXT(call);                                          \
		if (!error)                                          \
			return next arguments;                       \
		errno = error;                                       \
		return failed;                                       \
	}

/* Those that give the error itself. */
#define HOOK_DIRECT(call, parameters, arguments)                     \
	int call parameters                                          \
	{                                                            \
		NEXT(call);                                          \
		return error ? error : next arguments;               \
	}

HOOK(void *, mmap, (void *at, size_t size, int access, int flags, int fd, off_t offset),
     (at, size, access, flags, fd, offset), MAP_FAILED)
HOOK(int, munmap, (void *at, size_t size), (at, size), -1)
HOOK(int, eventfd, (unsigned count, int flags), (count, flags), -1)
HOOK(int, epoll_create1, (int flags), (flags), -1)
HOOK(int, epoll_ctl, (int set, int what, int fd, struct epoll_event *event), (set, what, fd, event), -1)
HOOK(int, epoll_wait, (int set, struct epoll_event *events, int most, int limit), (set, events, most, limit), -1)
HOOK(int, ppoll, (struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask),
     (fds, count, limit, mask), -1)
HOOK(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), -1)
HOOK(int, socket, (int family, int type, int protocol), (family, type, protocol), -1)
HOOK(int, bind, (int fd, __CONST_SOCKADDR_ARG name, socklen_t length), (fd, name, length), -1)
HOOK(int, connect, (int fd, __CONST_SOCKADDR_ARG name, socklen_t length), (fd, name, length), -1)
HOOK(int, getsockname, (int fd, __SOCKADDR_ARG name, socklen_t *length), (fd, name, length), -1)
HOOK(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t length),
     (fd, level, option, value, length), -1)
HOOK(ssize_t, send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags), -1)
HOOK(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), -1)
HOOK(ssize_t, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), -1)
HOOK(ssize_t, recvfrom, (int fd, void *to, size_t size, int flags, __SOCKADDR_ARG name, socklen_t *length),
     (fd, to, size, flags, name, length), -1)
HOOK_DIRECT(pthread_create,
	    (pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *arg), (thread, how, run, arg))
HOOK_DIRECT(pthread_key_create, (pthread_key_t *key, void (*end)(void *)), (key, end))

/* Eight bytes go to an eventfd; commands of rdma_cm are longer, and fail in the soft device. */
ssize_t write(int fd, const void *from, size_t size)
{
	static __typeof__(&write) next;
	static struct site site = { .name = "write" };
	int error = size == 8 ? due(&site, __builtin_return_address(0)) : 0;

	if (!next)
		next = (__typeof__(&write))dlsym(RTLD_NEXT, "write");
	if (!error)
		return next(fd, from, size);
	errno = error;
	return -1;
}

/* The descriptor is gone whatever close says. */
int close(int fd)
{
	int result;
	NEXT(close);

	result = next(fd);
	if (!error)
		return result;
	errno = error;
	return -1;
}

int open(const char *path, int flags, ...)
{
	va_list list;
	int mode;
	NEXT(open);

	va_start(list, flags);
	mode = va_arg(list, int);
	va_end(list);
	if (!error)
		return next(path, flags, mode);
	errno = error;
	return -1;
}

/* F_GETFL and its like do not fail. */
int fcntl(int fd, int command, ...)
{
	static __typeof__(&fcntl) next;
	static struct site site = { .name = "fcntl" };
	va_list list;
	long arg;
	int error = command == F_DUPFD_CLOEXEC ? due(&site, __builtin_return_address(0)) : 0;

	if (!next)
		next = (__typeof__(&fcntl))dlsym(RTLD_NEXT, "fcntl");
	va_start(list, command);
	arg = va_arg(list, long);
	va_end(list);
	if (!error)
		return next(fd, command, arg);
	errno = error;
	return -1;
}
