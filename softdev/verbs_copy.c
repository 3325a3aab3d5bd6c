/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Moving bytes between buffers, also those of another process. */
#include "copy.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

static int reached(pid_t pid, bool done)
{
	if (!done && (errno == EPERM || errno == ENOSYS))
		fk_say("cannot reach the memory of process %d (process_vm_readv: %s): the system must allow ptrace "
		       "among processes of one user", (int)pid, strerror(errno));
	return done ? 0 : EFAULT;
}

static int copy(pid_t to_pid, uint64_t to, pid_t from_pid, uint64_t from, size_t n)
{
	struct iovec a = { (void *)(uintptr_t)to, n }, b = { (void *)(uintptr_t)from, n };
	pid_t me = fk_pid();

	if (to_pid == me && from_pid == me)
		memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n);
	else if (to_pid == me)
		return reached(from_pid, process_vm_readv(from_pid, &a, 1, &b, 1, 0) == (ssize_t)n);
	else if (from_pid == me)
		return reached(to_pid, process_vm_writev(to_pid, &b, 1, &a, 1, 0) == (ssize_t)n);
	else
		return EFAULT;
	return 0;
}

int fk_move(const struct fk_seg *to, int nto, const struct fk_seg *from, int nfrom, uint64_t skip)
{
	uint64_t have = 0, room = 0, at = 0, src = 0;
	int i = 0, j = 0, err;

	for (;;) {
		uint64_t n;

		while (i < nfrom && src == from[i].len) {
			i++;
			src = 0;
		}
		while (j < nto && (at == to[j].len || skip)) {
			if (skip && skip < to[j].len) {
				at = skip;
				skip = 0;
				break;
			}
			skip -= skip ? to[j].len : 0;
			j++;
			at = 0;
		}
		if (i >= nfrom || j >= nto)
			return 0;
		have = from[i].len - src;
		room = to[j].len - at;
		n = have < room ? have : room;
		err = copy(to[j].pid, to[j].addr + at, from[i].pid, from[i].addr + src, n);
		if (err)
			return err;
		at += n;
		src += n;
	}
}

uint64_t fk_seg_sum(const struct fk_seg *s, int n)
{
	uint64_t sum = 0;

	while (n-- > 0)
		sum += s[n].len;
	return sum;
}

/* Turns a key and address into memory, or fails as the device would. */
static int look_up(uint32_t key, uint32_t pd, uint64_t addr, uint64_t len, uint32_t access,
		   struct fk_seg *s)
{
	const struct fk_vmr *m;
	uint32_t i;

	s->len = len;
	s->addr = addr;
	s->pid = fk_pid();
	if (!len)
		return 0;
	i = fk_mr_find(key);
	if (!i)
		return -1;
	m = fk_mrp(i);
	if (m->pd != pd || (m->access & access) != access || addr < m->iova ||
	    len > m->len || addr - m->iova > m->len - len)
		return -1;
	s->addr = m->addr + (addr - m->iova);
	s->pid = m->pid;
	return 0;
}

int fk_local_segs(const struct fk_wqe *w, uint32_t pd, uint32_t access, struct fk_seg *s)
{
	if (w->inline_len) {
		/* Inline bytes are in the shared mapping: any process reads them here. */
		s[0] = (struct fk_seg) { (uintptr_t)w->sge, w->inline_len, fk_pid() };
		return 1;
	}
	for (uint32_t i = 0; i < w->nsge; i++)
		if (look_up(w->sge[i].key, pd, w->sge[i].addr, w->sge[i].len, access, &s[i]))
			return -1;
	return (int)w->nsge;
}

int fk_remote_seg(uint32_t key, uint32_t pd, uint64_t addr, uint64_t len, uint32_t access,
		  struct fk_seg *s)
{
	return look_up(key, pd, addr, len, access, s);
}
