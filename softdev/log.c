/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The log: one readable line a command in the file RDMAFAKE_LOG names, and the same commands as
 * records in that name with ".bin" behind. And what is said to the user.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
enum { FORK_WAIT_MS = 2000 };

static int text_fd = -1, bin_fd = -1;

bool fk_log_on(void)
{
	return text_fd >= 0;
}

/* Out of the way of the program's own small numbers. */
static int open_high(const char *path)
{
	int fd = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int high;

	if (fd < 0) {
		fk_say("cannot write the log %s: %s", path, strerror(errno));
		return -1;
	}
	high = fcntl(fd, F_DUPFD_CLOEXEC, 900);
	if (high < 0)
		return fd;
	REAL(close)(fd);
	return high;
}

void fk_log_start(const char *path)
{
	char bin[4096];

	if (text_fd >= 0) {
		REAL(close)(text_fd);
		REAL(close)(bin_fd);
		text_fd = bin_fd = -1;
	}
	if (!path || !*path)
		return;
	snprintf(bin, sizeof(bin), "%s.bin", path);
	text_fd = open_high(path);
	bin_fd = text_fd < 0 ? -1 : open_high(bin);
}

static size_t hex(char *to, size_t room, const uint8_t *from, size_t len)
{
	static const char digit[] = "0123456789abcdef";
	size_t n = 0;

	for (size_t i = 0; i < len && n + 2 < room; i++) {
		to[n++] = digit[from[i] >> 4];
		to[n++] = digit[from[i] & 15];
	}
	to[n] = 0;
	return n;
}

static void put(int fd, const void *data, size_t len)
{
	/* Not a cancellation point, unlike write(): the log's lock is held. */
	if (fd >= 0 && syscall(SYS_write, fd, data, len) < 0)
		return;
}

void fk_log_command(const struct fk_call *c, ssize_t ret, int err)
{
	struct rdmafake_record rec = {
		.magic = RDMAFAKE_RECORD, .pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid), .fd = c->fd, .cmd = c->cmd,
		.opener = (uint32_t)fk_chanp(c->chan)->opener,
		.in = c->in_len, .out = c->out_len, .ret = (int32_t)ret, .err = err,
		.in_bytes = (uint32_t)c->in_avail,
		.out_bytes = ret < 0 ? 0 : (uint32_t)c->answer_len,
	};
	char line[4096];
	size_t n;

	n = (size_t)snprintf(line, 256, "%u.%u fd=%d chan=%u/%d %s(%u) in=%u out=%u = %zd%s%s req=",
			     rec.pid, rec.tid, c->fd, (unsigned)fk_chanp(c->chan)->serial, (int)fk_chanp(c->chan)->opener,
			     fk_cmd_name(c->cmd), c->cmd, c->in_len, c->out_len, ret,
			     err ? " " : "", err ? strerrorname_np(err) : "");
	n += hex(line + n, 1500, c->in, c->in_avail);
	n += (size_t)snprintf(line + n, 16, " ans=");
	n += hex(line + n, 1500, c->answer, rec.out_bytes);
	line[n++] = '\n';
	fk_hold(&lock);
	put(text_fd, line, n);
	put(bin_fd, &rec, sizeof(rec));
	put(bin_fd, c->in, rec.in_bytes);
	put(bin_fd, c->answer, rec.out_bytes);
	fk_let_go(&lock);
}

void fk_log_note(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n, m, e = errno;

	if (text_fd < 0)
		return;
	n = snprintf(line, 64, "%d.%ld # ", (int)getpid(), syscall(SYS_gettid));
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	n += m < (int)sizeof(line) - n - 1 ? m : (int)sizeof(line) - n - 2;
	line[n++] = '\n';
	fk_hold(&lock);
	put(text_fd, line, (size_t)n);
	fk_let_go(&lock);
	errno = e;
}

/* Bounded: who writes may be held up by the file. */
void fk_log_fork(int step)
{
	static __thread bool held;

	if (step == 0)
		held = fk_hold_within(&lock, FORK_WAIT_MS);
	else if (step == 1 && held)
		fk_let_go(&lock);
	else if (step == 2)
		lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (step == 2 && held)
		fk_unshield();
}

/* One line for the person at the terminal; not the same one again. */
void fk_say(const char *fmt, ...)
{
	static char last[512];
	char line[sizeof(last)];
	int n, m, err = errno;
	va_list ap;

	n = snprintf(line, sizeof(line), "rdmafake: ");
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	n += m < (int)sizeof(line) - n - 1 ? m : (int)sizeof(line) - n - 2;
	line[n++] = '\n';
	if (!memcmp(line, last, (size_t)n))
		return;
	memcpy(last, line, (size_t)n);
	put(STDERR_FILENO, line, (size_t)n);
	errno = err;
}
