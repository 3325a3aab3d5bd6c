/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which file descriptors of this process are ours. Read without a lock by every read, write and
 * close of the program, so it is a plain table.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <sys/uio.h>

enum { FK_KIND_SHIFT = 24 };
/* How long a fork waits for the lock, and a child's share of a file for the child. */
enum { FORK_WAIT_MS = 2000, LOAN_MS = 5000 };

static _Atomic uint32_t fd_table[FK_FD_MAX];
static _Atomic int fd_high;
static _Atomic int chan_fd[FK_MAX_CHAN + 1];

uint32_t fk_fd_kind(int fd, uint32_t *idx)
{
	uint32_t v;

	if (fd < 0 || fd >= FK_FD_MAX)
		return FK_FD_NONE;
	v = atomic_load_explicit(&fd_table[fd], memory_order_acquire);
	if (idx)
		*idx = v & ((1u << FK_KIND_SHIFT) - 1);
	return v >> FK_KIND_SHIFT;
}

bool fk_fd_fits(int fd)
{
	return fd >= 0 && fd < FK_FD_MAX;
}

static bool is_chan(int fd, uint32_t chan)
{
	return atomic_load(&fd_table[fd]) == (FK_FD_CHAN << FK_KIND_SHIFT | chan);
}

static void enter(int fd, uint32_t kind, uint32_t idx)
{
	int high = atomic_load(&fd_high);

	while (fd >= high && !atomic_compare_exchange_weak(&fd_high, &high, fd + 1))
		;
	atomic_store_explicit(&fd_table[fd], kind << FK_KIND_SHIFT | idx, memory_order_release);
}

void fk_fd_set(int fd, uint32_t kind, uint32_t idx)
{
	if (!fk_fd_fits(fd))
		return;
	enter(fd, kind, idx);
	if (kind == FK_FD_CHAN)
		atomic_store(&chan_fd[idx], fd + 1);
}

void fk_take_signal(int fd)
{
	uint64_t unit;
	struct iovec v = { &unit, sizeof(unit) };
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	/* Emulators of programs lack the call that never waits. */
	if (preadv2(fd, &v, 1, -1, RWF_NOWAIT) < 0 && errno == ENOTSUP && poll(&ready, 1, 0) == 1)
		fk_real_read()(fd, &unit, sizeof(unit));
}

int fk_chan_fd(uint32_t chan)
{
	return atomic_load(&chan_fd[chan]) - 1;
}

/* Another descriptor of the same file, if there is one. */
static int duplicate(uint32_t chan)
{
	for (int i = 0; i < atomic_load(&fd_high) && fk_chan_held(chan, fk_pid()) > 1; i++)
		if (is_chan(i, chan))
			return i;
	return -1;
}

void fk_fd_closing(int fd)
{
	uint32_t idx, kind;

	/* A vfork child shares this table but not the descriptors. */
	if (!fk_my_pid_is(getpid()))
		return;
	fk_lock();
	kind = fk_fd_kind(fd, &idx);
	if (kind != FK_FD_NONE)
		atomic_store(&fd_table[fd], 0);
	if (kind == FK_FD_CHAN && atomic_load(&chan_fd[idx]) == fd + 1)
		atomic_store(&chan_fd[idx], duplicate(idx) + 1);
	fk_unlock();
	if (kind == FK_FD_CHAN)
		fk_chan_close(idx);
}

void fk_fd_copied(int from, int to)
{
	uint32_t idx, kind = fk_fd_kind(from, &idx);

	if (kind == FK_FD_NONE || !fk_fd_fits(to))
		return;
	fk_lock();
	if (kind == FK_FD_CHAN)
		fk_chan_add(idx, 1);
	enter(to, kind, idx);
	fk_unlock();
}

/* The files stay open for a child that has not come so far as to say that it is there. */
void fk_fds_lend(void)
{
	uint32_t chan;

	fk_kill_point("fork");
	if (!fk_lock_within(FORK_WAIT_MS))
		return;
	for (int fd = 0; fd < atomic_load(&fd_high); fd++)
		if (fk_fd_kind(fd, &chan) == FK_FD_CHAN)
			fk_chan_lend(chan, LOAN_MS);
	fk_unlock();
}

static void take_loans(pid_t pid)
{
	uint32_t chan;

	for (int fd = 0; fd < atomic_load(&fd_high); fd++)
		if (fk_fd_kind(fd, &chan) == FK_FD_CHAN)
			fk_chan_borrow(chan, pid);
}

/* With the kernel locked. The parent may have done it in the child's name: then all of it. */
void fk_fds_claim(void)
{
	uint32_t chan;

	for (int fd = 0; fd < atomic_load(&fd_high); fd++)
		if (fk_fd_kind(fd, &chan) == FK_FD_CHAN && fk_chan_held(chan, fk_pid()))
			return;
	take_loans(fk_pid());
}

void fk_fds_lent_to(pid_t child)
{
	take_loans(child);
}
