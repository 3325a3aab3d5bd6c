/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The processes that use this kernel. A process that ends says nothing, in whatever state it was;
 * what a kernel does then, others do: every new process before it takes a place, and the helper
 * threads of those that are there.
 */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>

enum { NOBODY = UINT32_MAX };
/* How long a fork waits for the lock. */
enum { FORK_WAIT_MS = 2000 };

static uint32_t me = NOBODY;
static pid_t my_pid;
/* The thread that has begun to leave. */
static _Atomic pid_t leaver;
/* Read by others, to see whether it is still this program. */
static volatile uint64_t my_mark;

struct status {
	char state;
	int threads;
	uint64_t start;
};

/* As in /proc/PID/stat: the 3rd, 20th and 22nd field. */
static bool read_status(pid_t pid, struct status *s)
{
	char path[64], text[1024], *p, *save;
	ssize_t n;
	int fd;

	/* Emulators of programs make up /proc/PID/stat of the program itself. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)pid);
	fd = REAL(open)(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = REAL(read)(fd, text, sizeof(text) - 1);
	REAL(close)(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	p = strrchr(text, ')');
	p = p ? strtok_r(p + 1, " ", &save) : NULL;
	if (!p)
		return false;
	*s = (struct status) { .state = *p };
	for (int field = 3; p && field <= 22; field++, p = strtok_r(NULL, " ", &save)) {
		if (field == 20)
			s->threads = atoi(p);
		else if (field == 22)
			s->start = strtoull(p, NULL, 10);
	}
	return true;
}

char fk_thread_state(pid_t tid)
{
	struct status s;

	if (kill(tid, 0) && errno == ESRCH)
		return 0;
	return read_status(tid, &s) ? s.state : 'R';
}

static bool gone(pid_t pid, uint64_t start)
{
	struct status s;

	if (kill(pid, 0) && errno == ESRCH)
		return true;
	if (!read_status(pid, &s))
		return false;
	/* Threads may go on after the first one. */
	if ((s.state == 'Z' && s.threads <= 1) || s.state == 'X')
		return true;
	return start && s.start != start;
}

/* What is not allowed to be read tells nothing. */
static bool other_program(const struct fk_proc *p)
{
	uint64_t found = 0;
	struct iovec to = { &found, sizeof(found) }, from = { (void *)(uintptr_t)p->mark_at, sizeof(found) };

	if (process_vm_readv(p->pid, &to, 1, &from, 1, 0) < 0)
		return errno == EFAULT;
	return found != p->mark;
}

static bool place_gone(uint32_t i)
{
	const struct fk_proc *p = &fk_k->proc[i];

	return p->pid && (gone(p->pid, p->start) || other_program(p));
}

bool fk_pid_gone(pid_t pid)
{
	return gone(pid, 0);
}

bool fk_proc_any(void)
{
	for (uint32_t i = 0; i < atomic_load(&fk_k->nprocs); i++)
		if (atomic_load(&fk_k->proc[i].pid) && !place_gone(i))
			return true;
	return false;
}

static bool has_place(pid_t pid)
{
	for (uint32_t i = 0; i < atomic_load(&fk_k->nprocs); i++)
		if (atomic_load(&fk_k->proc[i].pid) == pid)
			return true;
	return false;
}

/* A child has its share, or will never take it; in between its parent says who it is. */
void fk_proc_forked(pid_t child)
{
	if (!fk_k || !fk_lock_within(FORK_WAIT_MS))
		return;
	if (!has_place(child))
		fk_fds_lent_to(child);
	fk_unlock();
}

/* Ends some of what a process has; true while something is left. */
static bool end_step(pid_t pid)
{
	bool more = fk_verbs_end_step(pid);

	for (uint32_t i = 1; !more && i <= fk_k->chan.pool.high; i++) {
		if (!fk_chanp(i)->node.live)
			continue;
		fk_chan_hold(i, pid, -(int)fk_chan_held(i, pid));
		more = fk_chan_end_step(i);
	}
	return more || fk_events_end_step(pid);
}

/* Whoever dies at this leaves the rest to the next. */
static void end_all(uint32_t i, uint64_t mark, bool leaves)
{
	struct fk_proc *p = &fk_k->proc[i];
	bool more = true;

	while (more) {
		fk_lock();
		more = p->pid && p->mark == mark && end_step(p->pid);
		if (!more && leaves && p->mark == mark)
			atomic_store(&p->pid, 0);
		fk_unlock();
	}
}

/* A child that died before it took a place. */
static void drop_unborn(struct fk_chan *c)
{
	for (int j = 0; j < FK_MAX_HOLDERS; j++)
		if (c->holder[j].fds && c->holder[j].pid != my_pid && !has_place(c->holder[j].pid) &&
		    gone(c->holder[j].pid, 0))
			c->holder[j].fds = 0;
}

/* Files whose last holder died while it closed them, or before it took its share. */
static bool sweep(void)
{
	bool found = false, more;

	for (uint32_t i = 1; i <= fk_k->chan.pool.high; i++)
		do {
			fk_lock();
			if (fk_chanp(i)->node.live)
				drop_unborn(fk_chanp(i));
			more = fk_chan_end_step(i);
			found |= more;
			fk_unlock();
		} while (more);
	return found;
}

int fk_procs_reap(void)
{
	int n = 0;

	for (uint32_t i = 0; i < atomic_load(&fk_k->nprocs); i++) {
		uint64_t mark = fk_k->proc[i].mark;

		if (i == me || !place_gone(i))
			continue;
		fk_kill_point("reap");
		end_all(i, mark, true);
		n++;
	}
	if (sweep() || n)
		fk_wake_all();
	return n;
}

/* This process has its number from one that has ended, or from another program of its own. */
static void reap_namesake(void)
{
	for (uint32_t i = 0; i < atomic_load(&fk_k->nprocs); i++)
		if (atomic_load(&fk_k->proc[i].pid) == my_pid)
			end_all(i, fk_k->proc[i].mark, true);
}

/* A child takes its share of its parent's files with the place, so that both end with it. */
static uint32_t take_place(uint64_t start, bool forked)
{
	uint32_t i;

	if (!forked)
		fk_lock();
	else if (!fk_lock_within(FORK_WAIT_MS))
		return NOBODY;
	for (i = 0; i < FK_MAX_PROC && fk_k->proc[i].pid; i++)
		;
	if (i < FK_MAX_PROC) {
		fk_k->proc[i].start = start;
		fk_k->proc[i].mark = my_mark = ++fk_k->marks;
		fk_k->proc[i].mark_at = (uintptr_t)&my_mark;
		atomic_store(&fk_k->proc[i].pid, my_pid);
		if (i >= atomic_load(&fk_k->nprocs))
			atomic_store(&fk_k->nprocs, i + 1);
	}
	if (forked && i < FK_MAX_PROC)
		fk_fds_claim();
	fk_unlock();
	return i < FK_MAX_PROC ? i : NOBODY;
}

void fk_proc_enter(bool forked)
{
	struct status s = { 0 };

	fk_kill_point(forked ? "child" : "enter");
	my_pid = getpid();
	me = NOBODY;
	/* The others of this kernel read and write our buffers. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	read_status(my_pid, &s);
	reap_namesake();
	me = take_place(s.start, forked);
	if (me == NOBODY && !forked && fk_procs_reap())
		me = take_place(s.start, forked);
	if (me == NOBODY)
		fk_say("more than %d processes use this kernel: what this one leaves behind will stay", FK_MAX_PROC);
}

bool fk_proc_left(void)
{
	pid_t tid = atomic_load_explicit(&leaver, memory_order_relaxed);

	return tid && tid != gettid();
}

/*
 * What a leaving process has is another's next, so its threads, which do not know, stop at the locks from now on. The
 * place stays: a thread that is inside one may make more, which is ended with the process.
 */
void fk_proc_leave(void)
{
	if (!fk_k || !fk_shared() || !fk_my_pid_is(getpid()) || me == NOBODY)
		return;
	atomic_store(&leaver, gettid());
	fk_kill_point("exit");
	end_all(me, my_mark, false);
	fk_kill_point("");
	fk_wake_all();
}

pid_t fk_pid(void)
{
	return my_pid;
}

bool fk_my_pid_is(pid_t pid)
{
	return my_pid == pid;
}

bool fk_shared(void)
{
	return fk_k->head.shared || atomic_load(&fk_k->nprocs) > 1;
}

uint32_t *fk_proc_word(void)
{
	return me == NOBODY ? NULL : &fk_k->proc[me].seq;
}

static void kick(uint32_t i)
{
	fk_futex_wake(&fk_k->proc[i].seq);
}

void fk_wake_all(void)
{
	for (uint32_t i = 0; i < atomic_load(&fk_k->nprocs); i++)
		if (i != me && atomic_load(&fk_k->proc[i].pid))
			kick(i);
}

void fk_wake_process(pid_t pid)
{
	for (uint32_t i = 0; i < atomic_load(&fk_k->nprocs); i++)
		if (i != me && atomic_load(&fk_k->proc[i].pid) == pid)
			kick(i);
}
