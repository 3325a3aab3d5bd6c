/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The open files of the rdma_cm node: who holds them, and what goes with the last holder. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <sys/eventfd.h>

/* Ids that end in one hold of the lock. */
enum { STEP_IDS = 32 };

static struct fk_holder *holder_of(struct fk_chan *c, pid_t pid)
{
	for (int i = 0; i < FK_MAX_HOLDERS; i++)
		if (c->holder[i].fds && c->holder[i].pid == pid)
			return &c->holder[i];
	return NULL;
}

/* Adds (or takes away) references of a process. */
void fk_chan_hold(uint32_t chan, pid_t pid, int n)
{
	struct fk_chan *c = fk_chanp(chan);
	struct fk_holder *h = holder_of(c, pid);

	for (int i = 0; !h && n > 0 && i < FK_MAX_HOLDERS; i++)
		if (!c->holder[i].fds) {
			h = &c->holder[i];
			h->pid = pid;
		}
	if (h)
		h->fds = n < 0 && h->fds < (uint32_t)-n ? 0 : h->fds + (uint32_t)n;
}

uint32_t fk_chan_held(uint32_t chan, pid_t pid)
{
	struct fk_holder *h = holder_of(fk_chanp(chan), pid);

	return h ? h->fds : 0;
}

/* References of children that are being born, as long as that may take. */
void fk_chan_lend(uint32_t chan, unsigned ms)
{
	fk_chanp(chan)->loans++;
	fk_chanp(chan)->loans_end = fk_now_ms() + ms;
}

void fk_chan_borrow(uint32_t chan, pid_t child)
{
	/* Without a loan it may be another file by now. */
	if (!fk_chanp(chan)->node.live || !fk_chanp(chan)->loans)
		return;
	fk_chanp(chan)->loans--;
	fk_chan_hold(chan, child, 1);
}

static bool held(const struct fk_chan *c)
{
	if (c->loans && fk_now_ms() < c->loans_end)
		return true;
	for (int i = 0; i < FK_MAX_HOLDERS; i++)
		if (c->holder[i].fds)
			return true;
	return false;
}

/* Nobody alive holds it, though that has not been found out yet. */
bool fk_chan_dead(uint32_t chan)
{
	const struct fk_chan *c = fk_chanp(chan);

	if (c->loans)
		return false;
	for (int i = 0; i < FK_MAX_HOLDERS; i++)
		if (c->holder[i].fds && (c->holder[i].pid == fk_pid() || !fk_pid_gone(c->holder[i].pid)))
			return false;
	return true;
}

/* Ends some of what a file that nobody holds has, then the file; true while something is left. */
bool fk_chan_end_step(uint32_t chan)
{
	struct fk_chan *c = fk_chanp(chan);

	if (!c->node.live || held(c))
		return false;
	for (int i = 0; i < STEP_IDS; i++) {
		uint32_t ev = c->head;

		if (c->first_id) {
			fk_id_destroy(c->first_id);
		} else if (ev) {
			c->head = fk_eventp(ev)->next;
			if (fk_eventp(ev)->child)
				fk_id_destroy(fk_eventp(ev)->child);
			FK_GIVE(fk_k->event, ev);
		} else {
			FK_GIVE(fk_k->chan, chan);
			return false;
		}
	}
	return true;
}

void fk_chan_add(uint32_t chan, int n)
{
	fk_chan_hold(chan, fk_pid(), n);
}

int fk_chan_open(int flags)
{
	int fd = eventfd(0, EFD_SEMAPHORE | ((flags & O_CLOEXEC) ? EFD_CLOEXEC : 0) |
			 ((flags & O_NONBLOCK) ? EFD_NONBLOCK : 0));
	uint32_t chan;

	if (fd < 0)
		return -1;
	fk_kill_point("open");
	fk_lock();
	chan = fk_fd_fits(fd) ? FK_TAKE(fk_k->chan) : 0;
	if (chan) {
		fk_chanp(chan)->serial = ++fk_k->serial;
		fk_chanp(chan)->opener = fk_pid();
		fk_chanp(chan)->credentials = fk_credentials();
		fk_chan_add(chan, 1);
		fk_fd_set(fd, FK_FD_CHAN, chan);
	}
	fk_unlock();
	if (!chan) {
		REAL(close)(fd);
		errno = ENFILE;
		return -1;
	}
	if (fk_shared())
		fk_helper_want();
	return fd;
}

void fk_chan_close(uint32_t chan)
{
	uint64_t serial;
	bool more = true;

	fk_kill_point("close");
	fk_lock();
	serial = fk_chanp(chan)->serial;
	fk_chan_add(chan, -1);
	fk_unlock();
	while (more) {
		fk_lock();
		more = fk_chanp(chan)->serial == serial && fk_chan_end_step(chan);
		fk_unlock();
	}
}
