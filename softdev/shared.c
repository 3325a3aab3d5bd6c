/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The mapping that holds the kernel: anonymous for one process and its children, a file
 * (RDMAFAKE_SHARED) for processes that start apart. A file is as good as new whenever nobody uses it:
 * one whose processes are all gone, in whatever state, is replaced, and so is one of another build,
 * boot or PID namespace. Nobody maps or replaces a file but with its lock (flock), which the system
 * takes back from a process that dies.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

struct fk_kernel *fk_k;

/* Milliseconds for the lock of the file; a start takes a few. */
enum { LOCK_MS = 10000 };
/* Least room for work queues: 4 MB. */
enum { LEAST_HEAP = 4 << 20 };
/* What a run with some connections really uses. */
enum { LEAST_FREE = 32 << 20 };

static int locked = -1;

static void fill_new(struct fk_kernel *k, bool shared)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&k->lock.mutex, &a);
	fk_verbs_locks_init(k, &a);
	pthread_mutexattr_destroy(&a);
	k->head.shared = shared;
	k->tune = (struct fk_tune) {
		.max_cmd = FK_CMD_LAST,
		.af_ib = 1,
		.index_known = 1,
		.ece = 1,
		.addr_error = -ENODEV,
		.unreachable_status = -ETIMEDOUT,
		.rnr_ms = 655,
		.hold_limit_ms = 10000,
		.max_backlog = 1024,
		.port_low = 32768,
		.port_high = 60999,
	};
	k->next_port = k->tune.port_low;
	k->next_psn = 0x1000;
}

static size_t size_with(size_t heap)
{
	return FK_VERBS_OFF + fk_verbs_size() + heap;
}

/* Reads a small file of /proc; an empty string when there is none. */
static void proc_text(const char *path, char *to, size_t room)
{
	int fd = REAL(open)(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : REAL(read)(fd, to, room - 1);

	if (fd >= 0)
		REAL(close)(fd);
	to[n > 0 ? n : 0] = 0;
}

static struct fk_maker this_maker(void)
{
	/* Another layout of the mapping gives another number, by its sizes or by hand. */
	enum { LAYOUT = 2 };
	struct fk_maker m = { .magic = "softdev", .layout = LAYOUT + sizeof(struct fk_kernel) * 31 + fk_verbs_size() };
	struct stat st;

	if (!REAL(stat)("/proc/self/ns/pid", &st))
		m.pid_space = st.st_ino;
	proc_text("/proc/sys/kernel/random/boot_id", m.boot, sizeof(m.boot));
	return m;
}

/* What RLIMIT_AS leaves for the mapping: half of what is free, the rest is the program's. */
static size_t address_room(void)
{
	struct rlimit limit;
	char text[64];
	size_t used;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	proc_text("/proc/self/statm", text, sizeof(text));
	used = strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
	return used < limit.rlim_cur ? (limit.rlim_cur - used) / 2 : 0;
}

/* Only addresses are taken: memory and blocks of the file come with the first use of each page. */
static int map(int fd, size_t size, void **at)
{
	*at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	return *at == MAP_FAILED ? -errno : 0;
}

static int no_room(size_t size)
{
	fk_say("no room for %zu MB of addresses: raise RLIMIT_AS (ulimit -v) or set RDMAFAKE_HEAP to less than %zu",
	       size >> 20, (size - size_with(0)) >> 20);
	return -ENOMEM;
}

static int size_file(int fd, size_t size)
{
	const char *path = getenv("RDMAFAKE_SHARED");
	struct statvfs fs;
	int err;

	/* Where no block is left, the first use of a page would end the process. */
	if (!fstatvfs(fd, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize < LEAST_FREE) {
		fk_say("cannot use %s: its file system has less than %d MB free", path, LEAST_FREE >> 20);
		return -ENOSPC;
	}
	if (!ftruncate(fd, (off_t)size))
		return 0;
	err = errno;
	fk_say("cannot make %s %zu MB large: %s", path, size >> 20, strerror(err));
	return -err;
}

/* A new kernel, its heap as large as asked for, or as what is left of the addresses allows. */
static int map_new(int fd, void **at, size_t *size)
{
	size_t heap, room = address_room();
	bool asked = fk_heap_size(&heap);
	int r;

	while (!asked && size_with(heap) > room && heap > LEAST_HEAP)
		heap /= 2;
	for (;;) {
		*size = size_with(heap);
		if (fd >= 0 && (r = size_file(fd, *size)))
			return r;
		r = map(fd, *size, at);
		if (r != -ENOMEM || asked || heap <= LEAST_HEAP)
			break;
		heap /= 2;
	}
	return r ? no_room(*size) : 0;
}

static int complain(const char *path, int err)
{
	fk_say("cannot use %s: %s", path, strerror(err));
	return -err;
}

/* Who else's file it is, for the message. */
static int not_ours(const char *path, uid_t uid)
{
	char room[1024];
	struct passwd pw, *found = NULL;

	if (getpwuid_r(uid, &pw, room, sizeof(room), &found))
		found = NULL;
	fk_say("cannot use %s: it is user %s's (%u); set RDMAFAKE_SHARED to a name of your own", path,
	       found ? found->pw_name : "?", uid);
	return -EACCES;
}

static int lock_file(const char *path, int fd)
{
	for (int ms = 0; flock(fd, LOCK_EX | LOCK_NB); ms++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return complain(path, errno);
		if (ms == LOCK_MS) {
			fk_say("cannot use %s: a process holds its lock and does not go on (is it stopped?)", path);
			return -EBUSY;
		}
		usleep(1000);
	}
	return 0;
}

/* The file under that name, locked. 1: its name has gone to another one meanwhile. */
static int open_locked(const char *path, int *fd)
{
	struct stat st, now;
	int r;

	*fd = REAL(open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0) {
		r = errno;
		return !REAL(stat)(path, &st) && st.st_uid != geteuid() ? not_ours(path, st.st_uid) : complain(path, r);
	}
	if (REAL(fstat)(*fd, &st))
		r = complain(path, errno);
	else if (!S_ISREG(st.st_mode))
		r = complain(path, EINVAL);
	else if (st.st_uid != geteuid())
		r = not_ours(path, st.st_uid);
	else
		r = lock_file(path, *fd);
	if (!r)
		r = REAL(stat)(path, &now) || now.st_ino != st.st_ino || now.st_dev != st.st_dev;
	if (r)
		REAL(close)(*fd);
	return r;
}

/* Joins the kernel in the file. 1: there is none, or nobody is left who uses it. */
static int map_old(int fd, void **at)
{
	struct fk_maker want = this_maker();
	struct fk_head head;
	struct stat st;
	int r;

	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) || memcmp(&head.maker, &want, sizeof(want)) ||
	    !head.ready || REAL(fstat)(fd, &st) || head.size != (uint64_t)st.st_size)
		return 1;
	r = map(fd, head.size, at);
	if (r)
		return no_room(head.size);
	fk_k = *at;
	if (fk_proc_any())
		return 0;
	fk_k = NULL;
	munmap(*at, head.size);
	return 1;
}

static int open_shared(const char *path, void **at, size_t *size)
{
	struct stat st;
	int r, fd;

	for (;;) {
		r = open_locked(path, &fd);
		if (r == 1)
			continue;
		if (r < 0)
			return r;
		r = map_old(fd, at);
		if (r <= 0)
			break;
		if (REAL(fstat)(fd, &st) || !st.st_size) {
			r = map_new(fd, at, size);
			r = r ? r : 1;
			break;
		}
		/* Not emptied: a process that is about to say that it is there would lose its memory. */
		r = unlink(path) ? complain(path, errno) : 0;
		REAL(close)(fd);
		if (r)
			return r;
	}
	if (r < 0)
		REAL(close)(fd);
	else
		locked = fd;
	return r;
}

int fk_kernel_open(void)
{
	const char *path = getenv("RDMAFAKE_SHARED");
	bool shared = path && *path;
	size_t size;
	void *at;
	int r;

	/* The peer process reads and writes our buffers. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (shared) {
		r = open_shared(path, &at, &size);
	} else {
		r = map_new(-1, &at, &size);
		r = r ? r : 1;
	}
	if (r <= 0)
		return r;
	fk_k = at;
	fk_k->head.maker = this_maker();
	fk_k->head.size = size;
	fill_new(fk_k, shared);
	return 1;
}

void fk_kernel_ready(void)
{
	atomic_store(&fk_k->head.ready, 1);
}

void fk_kernel_close(void)
{
	if (locked < 0)
		return;
	flock(locked, LOCK_UN);
	REAL(close)(locked);
	locked = -1;
}
