#include "real.h"
#include "fake.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

/*
 * Which file descriptors of this process are ours. Read without a lock by
 * every read, write and close of the program, so it is a plain table.
 */
enum { FK_FD_MAX = 1 << 18, FK_KIND_SHIFT = 24 };

static _Atomic uint32_t fd_table[FK_FD_MAX];
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

void fk_fd_set(int fd, uint32_t kind, uint32_t idx)
{
	if (fd < 0 || fd >= FK_FD_MAX)
		return;
	atomic_store_explicit(&fd_table[fd], kind << FK_KIND_SHIFT | idx, memory_order_release);
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

char fk_pid_state(pid_t pid)
{
	char path[40], text[512], *p;
	ssize_t n;
	int fd;

	if (kill(pid, 0) && errno == ESRCH)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = REAL(open)(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 'R';
	n = REAL(read)(fd, text, sizeof(text) - 1);
	REAL(close)(fd);
	if (n <= 0)
		return 'R';
	text[n] = 0;
	p = strrchr(text, ')');
	return p && p[1] && p[2] ? p[2] : 'R';
}

bool fk_pid_gone(pid_t pid)
{
	char state = fk_pid_state(pid);

	return !state || state == 'Z';
}

/* Adds (or takes away) references of a process; pid -1 is a child being born. */
static void holder_add(struct fk_chan *c, pid_t pid, int n)
{
	struct fk_holder *empty = NULL;

	for (int i = 0; i < FK_MAX_HOLDERS; i++) {
		if (c->holder[i].fds && c->holder[i].pid == pid) {
			c->holder[i].fds += (uint32_t)n;
			return;
		}
		if (!c->holder[i].fds && !empty)
			empty = &c->holder[i];
	}
	if (empty && n > 0)
		*empty = (struct fk_holder) { .pid = pid, .fds = (uint32_t)n };
}

static bool chan_unused(struct fk_chan *c)
{
	for (int i = 0; i < FK_MAX_HOLDERS; i++) {
		struct fk_holder *h = &c->holder[i];

		if (h->fds && h->pid > 0 && h->pid != getpid() && fk_pid_gone(h->pid))
			h->fds = 0;
		if (h->fds)
			return false;
	}
	return true;
}

static void chan_destroy(uint32_t chan)
{
	struct fk_chan *c = fk_chanp(chan);

	while (c->first_id)
		fk_id_destroy(c->first_id);
	while (c->head) {
		uint32_t ev = c->head;

		c->head = fk_eventp(ev)->next;
		if (fk_eventp(ev)->child)
			fk_id_destroy(fk_eventp(ev)->child);
		FK_GIVE(fk_k->event, ev);
	}
	FK_GIVE(fk_k->chan, chan);
}

void fk_chan_add(uint32_t chan, int n)
{
	holder_add(fk_chanp(chan), getpid(), n);
}

void fk_chan_drop(uint32_t chan, int n)
{
	struct fk_chan *c = fk_chanp(chan);

	holder_add(c, getpid(), -n);
	if (chan_unused(c))
		chan_destroy(chan);
}

int fk_chan_open(int flags)
{
	int fd = eventfd(0, EFD_SEMAPHORE | ((flags & O_CLOEXEC) ? EFD_CLOEXEC : 0) |
			 ((flags & O_NONBLOCK) ? EFD_NONBLOCK : 0));
	uint32_t chan;

	if (fd < 0)
		return -1;
	fk_lock();
	chan = fd < FK_FD_MAX ? FK_TAKE(fk_k->chan) : 0;
	if (chan) {
		fk_chanp(chan)->serial = ++fk_k->serial;
		fk_chanp(chan)->opener = fk_pid();
		fk_chan_add(chan, 1);
		fk_fd_set(fd, FK_FD_CHAN, chan);
	}
	fk_unlock();
	if (!chan) {
		REAL(close)(fd);
		errno = ENFILE;
		return -1;
	}
	if (fk_k->shared || fk_k->nprocs > 1)
		fk_helper_want();
	return fd;
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
	if (kind == FK_FD_CHAN) {
		if (atomic_load(&chan_fd[idx]) == fd + 1) {
			atomic_store(&chan_fd[idx], 0);
			/* A duplicate may still be open. */
			for (int i = 0; i < FK_FD_MAX && fk_chanp(idx)->holder[0].fds > 1; i++)
				if (atomic_load(&fd_table[i]) == (FK_FD_CHAN << FK_KIND_SHIFT | idx)) {
					atomic_store(&chan_fd[idx], i + 1);
					break;
				}
		}
		fk_chan_drop(idx, 1);
	}
	fk_unlock();
}

void fk_fd_copied(int from, int to)
{
	uint32_t idx, kind = fk_fd_kind(from, &idx);

	if (kind == FK_FD_NONE)
		return;
	fk_lock();
	if (kind == FK_FD_CHAN)
		fk_chan_add(idx, 1);
	atomic_store(&fd_table[to], kind << FK_KIND_SHIFT | idx);
	fk_unlock();
}

static void each_chan(void (*fn)(struct fk_chan *, int))
{
	for (uint32_t i = 1; i <= fk_k->chan.pool.high; i++) {
		int fds = 0;

		if (!fk_chanp(i)->node.live || !atomic_load(&chan_fd[i]))
			continue;
		for (int j = 0; j < FK_MAX_HOLDERS; j++)
			if (fk_chanp(i)->holder[j].pid == getpid())
				fds = (int)fk_chanp(i)->holder[j].fds;
		fn(fk_chanp(i), fds);
	}
}

static void lend(struct fk_chan *c, int fds)
{
	if (fds)
		holder_add(c, -1, fds);
}

/* The child counts what its fd table says: the parent may have moved on. */
static void claim(struct fk_chan *c, int fds)
{
	uint32_t idx = (uint32_t)(c - fk_k->chan.at);

	fds = 0;
	for (int i = 0; i < FK_FD_MAX; i++)
		if (atomic_load(&fd_table[i]) == (FK_FD_CHAN << FK_KIND_SHIFT | idx))
			fds++;
	holder_add(c, -1, -fds);
	holder_add(c, getpid(), fds);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool begun;

static void start_once(void);

static void before_fork(void)
{
	/* Another thread may be at it: a child of half a start would never be known. */
	if (atomic_load(&begun))
		pthread_once(&once, start_once);
	if (!fk_k)
		return;
	fk_rules_fork(0);
	fk_log_fork(0);
	fk_lock();
	each_chan(lend);
	fk_unlock();
}

static void after_fork_parent(void)
{
	if (!fk_k)
		return;
	fk_log_fork(1);
	fk_rules_fork(1);
	fk_helper_want();
}

static void after_fork_child(void)
{
	if (!fk_k)
		return;
	fk_log_fork(2);
	fk_rules_fork(2);
	fk_helper_fork();
	fk_proc_enter();
	fk_lock();
	each_chan(claim);
	fk_unlock();
}

/* What a kernel does when a process ends, in whatever way. */
void fk_process_gone(pid_t pid)
{
	fk_verbs_process_gone(pid);
	fk_lock();
	for (uint32_t i = 1; i <= fk_k->chan.pool.high; i++) {
		bool had = false;

		for (int j = 0; fk_chanp(i)->node.live && j < FK_MAX_HOLDERS; j++)
			if (fk_chanp(i)->holder[j].fds && fk_chanp(i)->holder[j].pid == pid) {
				fk_chanp(i)->holder[j].fds = 0;
				had = true;
			}
		if (had && chan_unused(fk_chanp(i)))
			chan_destroy(i);
	}
	fk_unlock();
	fk_wake_remote();
}

void fk_fds_exit(void)
{
	if (fk_k && (fk_k->nprocs > 1 || fk_k->shared) && fk_my_pid_is(getpid()))
		fk_process_gone(getpid());
}

static void start_once(void)
{
	int first = fk_kernel_start();

	if (first < 0)
		abort();
	fk_log_start(getenv("RDMAFAKE_LOG"));
	fk_proc_enter();
	fk_script_env();
	if (first) {
		fk_default_devices();
		atomic_store(&fk_k->ready, 2);
	}
}

/* Before there can be anything to inherit. */
__attribute__((constructor)) static void loaded(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

void fk_start(void)
{
	int err = errno;

	atomic_store(&begun, true);
	pthread_once(&once, start_once);
	errno = err;
}
