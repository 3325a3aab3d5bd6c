/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Protection domains, memory regions, address handles, XRC domains, groups. */
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAP_MB = 256 };

#define HEAP_BEGIN ((FK_VERBS_OFF + sizeof(struct fk_verbs) + 63) & ~63ULL)

size_t fk_verbs_size(void)
{
	return sizeof(struct fk_verbs);
}

bool fk_heap_size(size_t *heap)
{
	const char *mb = getenv("RDMAFAKE_HEAP");
	bool asked = mb && atoi(mb) > 0;

	*heap = (size_t)(asked ? atoi(mb) : HEAP_MB) << 20;
	return asked;
}

void fk_verbs_locks_init(struct fk_kernel *k, pthread_mutexattr_t *a)
{
	struct fk_verbs *v = (struct fk_verbs *)(void *)((char *)k + FK_VERBS_OFF);

	pthread_mutex_init(&v->lock.mutex, a);
	v->heap_next = HEAP_BEGIN;
	v->heap_end = k->head.size;
}

void fk_vlock(void)
{
	fk_lock_take(&fk_v->lock);
}

void fk_vunlock(void)
{
	fk_lock_give(&fk_v->lock);
}

static unsigned heap_class(uint64_t size)
{
	unsigned c = 6;

	while ((1ULL << c) < size)
		c++;
	return c;
}

/* Powers of two with a list of free blocks for each; offsets, not pointers. */
uint64_t fk_heap_take(uint64_t size)
{
	unsigned c = heap_class(size);
	uint64_t off = c < FK_HEAP_CLASSES ? fk_v->heap_free[c] : 0;

	if (off) {
		memcpy(&fk_v->heap_free[c], fk_at(off), sizeof(uint64_t));
		return off;
	}
	if (fk_v->heap_next + (1ULL << c) > fk_v->heap_end)
		return 0;
	off = fk_v->heap_next;
	fk_v->heap_next += 1ULL << c;
	return off;
}

void fk_heap_give(uint64_t off, uint64_t size)
{
	unsigned c = heap_class(size);

	if (!off)
		return;
	memcpy(fk_at(off), &fk_v->heap_free[c], sizeof(uint64_t));
	fk_v->heap_free[c] = off;
}

uint64_t fk_heap_block(uint64_t size)
{
	return 1ULL << heap_class(size);
}

uint64_t fk_heap_free(void)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < FK_HEAP_CLASSES; c++)
		for (uint64_t off = fk_v->heap_free[c]; off && sum <= fk_heap_taken(); sum += 1ULL << c)
			memcpy(&off, fk_at(off), sizeof(off));
	return sum;
}

uint64_t fk_heap_taken(void)
{
	return fk_v->heap_next - HEAP_BEGIN;
}

static uint32_t *uses(uint32_t use)
{
	struct fk_dev *d = fk_devp(fk_usep(use)->dev);

	return fk_usep(use)->of == FK_USE_PD ? &d->pds : &d->contexts;
}

uint32_t fk_use_new(enum fk_use_of of, uint32_t dev)
{
	uint32_t use = FK_TAKE(fk_v->use);

	if (use) {
		fk_usep(use)->pid = fk_pid();
		fk_usep(use)->dev = dev;
		fk_usep(use)->of = of;
		++*uses(use);
	}
	return use;
}

void fk_use_end(uint32_t use)
{
	--*uses(use);
	FK_GIVE(fk_v->use, use);
}

FK_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	int err = FK_VERB("alloc_pd", fk_ctx_name(c));
	struct fk_upd *pd = err ? NULL : calloc(1, sizeof(*pd));

	if (!pd)
		return FK_NULL(err ? err : ENOMEM);
	pd->ib.context = c;
	fk_vlock();
	pd->id = ++fk_v->next_pd;
	pd->use = fk_use_new(FK_USE_PD, fk_uctx(c)->dev);
	pd->gen = fk_usep(pd->use)->node.gen;
	fk_vunlock();
	pd->ib.handle = pd->id;
	return &pd->ib;
}

FK_EXPORT int ibv_dealloc_pd(struct ibv_pd *ib)
{
	struct fk_upd *pd = (struct fk_upd *)ib;
	int err = FK_VERB("dealloc_pd", fk_ctx_name(ib->context));

	if (!err && atomic_load(&pd->refs))
		err = EBUSY;
	if (err)
		return fk_verr(err);
	fk_vlock();
	if (FK_LIVE(fk_usep(pd->use), pd))
		fk_use_end(pd->use);
	fk_vunlock();
	free(pd);
	return 0;
}

/* A kernel pins the pages: they must be there. A page that may only be read passes here. */
static bool is_mapped(void *addr, size_t len)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)addr & ~(page - 1);

	return !len || !msync((void *)start, (uintptr_t)addr + len - start, MS_ASYNC) || errno != ENOMEM;
}

static struct ibv_mr *reg(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned access)
{
	int err = FK_VERB("reg_mr", fk_ctx_name(pd->context));
	struct fk_umr *mr;
	struct fk_vmr *m;

	if (!err && (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		err = EINVAL;
	if (!err && !is_mapped(addr, len))
		err = EFAULT;
	mr = err ? NULL : calloc(1, sizeof(*mr));
	if (!mr)
		return FK_NULL(err ? err : ENOMEM);
	fk_vlock();
	mr->idx = FK_TAKE(fk_v->mr);
	if (!mr->idx) {
		fk_vunlock();
		free(mr);
		return FK_NULL(ENOMEM);
	}
	m = fk_mrp(mr->idx);
	mr->gen = m->node.gen;
	m->key = mr->idx << 8 | (m->node.gen & 0xff);
	m->pd = ((struct fk_upd *)pd)->id;
	m->access = access;
	m->dev = fk_uctx(pd->context)->dev;
	m->pid = fk_pid();
	m->addr = (uintptr_t)addr;
	m->iova = iova;
	m->len = len;
	fk_devp(fk_uctx(pd->context)->dev)->mrs++;
	fk_vunlock();
	atomic_fetch_add(&((struct fk_upd *)pd)->refs, 1);
	mr->ib.context = pd->context;
	mr->ib.pd = pd;
	mr->ib.addr = addr;
	mr->ib.length = len;
	mr->ib.handle = mr->idx;
	mr->ib.lkey = mr->ib.rkey = m->key;
	return &mr->ib;
}

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
FK_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return reg(pd, addr, len, (uintptr_t)addr, (unsigned)access);
}

FK_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
					 int access)
{
	return reg(pd, addr, len, iova, (unsigned)access);
}

FK_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
					  unsigned int access)
{
	return reg(pd, addr, len, iova, access);
}

void fk_mr_end(uint32_t mr)
{
	fk_devp(fk_mrp(mr)->dev)->mrs--;
	FK_GIVE(fk_v->mr, mr);
}

FK_EXPORT int ibv_dereg_mr(struct ibv_mr *ib)
{
	struct fk_umr *mr = (struct fk_umr *)ib;
	int err = FK_VERB("dereg_mr", fk_ctx_name(ib->context));

	if (err)
		return fk_verr(err);
	fk_vlock();
	if (FK_LIVE(fk_mrp(mr->idx), mr))
		fk_mr_end(mr->idx);
	fk_vunlock();
	atomic_fetch_sub(&((struct fk_upd *)ib->pd)->refs, 1);
	free(mr);
	return 0;
}

uint32_t fk_mr_find(uint32_t key)
{
	uint32_t i = key >> 8;

	return i && i <= fk_v->mr.pool.high && fk_mrp(i)->node.live && fk_mrp(i)->key == key ? i : 0;
}

static _Atomic uint32_t live_ahs, live_xrcds;

FK_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	int err = FK_VERB("create_ah", fk_ctx_name(pd->context));
	const struct fk_dev *d = fk_devp(fk_uctx(pd->context)->dev);
	struct fk_uah *ah;

	/* An Ethernet link cannot be addressed without a GID. */
	if (!err && (!attr->port_num || attr->port_num > d->nports ||
		     (fk_roce(d, attr->port_num) && !attr->is_global)))
		err = EINVAL;
	ah = err ? NULL : calloc(1, sizeof(*ah));
	if (!ah)
		return FK_NULL(err ? err : ENOMEM);
	ah->ib.context = pd->context;
	ah->ib.pd = pd;
	ah->attr = *attr;
	atomic_fetch_add(&((struct fk_upd *)pd)->refs, 1);
	atomic_fetch_add(&live_ahs, 1);
	return &ah->ib;
}

FK_EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
	int err = FK_VERB("destroy_ah", fk_ctx_name(ah->context));

	if (err)
		return fk_verr(err);
	atomic_fetch_sub(&((struct fk_upd *)ah->pd)->refs, 1);
	atomic_fetch_sub(&live_ahs, 1);
	free(ah);
	return 0;
}

FK_EXPORT int ibv_init_ah_from_wc(struct ibv_context *c, uint8_t port, struct ibv_wc *wc,
				  struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	const struct fk_dev *d = fk_devp(fk_uctx(c)->dev);

	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->port_num = port;
	if (wc->wc_flags & IBV_WC_GRH) {
		attr->is_global = 1;
		attr->grh.dgid = grh->sgid;
		attr->grh.hop_limit = 64;
		for (uint32_t g = 0; g < d->port[port - 1].ngids; g++)
			if (!memcmp(d->port[port - 1].gid[g], &grh->dgid, 16))
				attr->grh.sgid_index = (uint8_t)g;
	}
	return 0;
}

FK_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
					       struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr;

	ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr);
	return ibv_create_ah(pd, &attr);
}

struct ibv_xrcd *fk_open_xrcd(struct ibv_context *c, struct ibv_xrcd_init_attr *a)
{
	int err = FK_VERB("open_xrcd", fk_ctx_name(c));
	struct fk_uxrcd *x = err ? NULL : calloc(1, sizeof(*x));

	(void)a;
	if (!x)
		return FK_NULL(err ? err : ENOMEM);
	x->ib.context = c;
	fk_vlock();
	x->id = ++fk_v->next_pd;
	fk_vunlock();
	atomic_fetch_add(&live_xrcds, 1);
	return &x->ib;
}

int fk_close_xrcd(struct ibv_xrcd *ib)
{
	struct fk_uxrcd *x = (struct fk_uxrcd *)ib;
	int err = FK_VERB("close_xrcd", fk_ctx_name(ib->context));

	if (!err && atomic_load(&x->refs))
		err = EBUSY;
	if (err)
		return fk_verr(err);
	atomic_fetch_sub(&live_xrcds, 1);
	free(x);
	return 0;
}

FK_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int err = FK_VERB("attach_mcast", fk_ctx_name(qp->context));
	uint32_t a;

	(void)lid;
	if (!err && (qp->qp_type != IBV_QPT_UD || !fk_gid_multicast(gid->raw)))
		err = EINVAL;
	if (err)
		return fk_verr(err);
	fk_vlock();
	a = FK_TAKE(fk_v->attach);
	if (a) {
		fk_v->attach.at[a].qp = ((struct fk_uqp *)qp)->idx;
		memcpy(fk_v->attach.at[a].gid, gid, 16);
	}
	fk_vunlock();
	return a ? 0 : fk_verr(ENOMEM);
}

FK_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int err = FK_VERB("detach_mcast", fk_ctx_name(qp->context));
	uint32_t found = 0;

	(void)lid;
	if (err)
		return fk_verr(err);
	fk_vlock();
	for (uint32_t i = 1; !found && i <= fk_v->attach.pool.high; i++)
		if (fk_v->attach.at[i].node.live && fk_v->attach.at[i].qp == ((struct fk_uqp *)qp)->idx &&
		    !memcmp(fk_v->attach.at[i].gid, gid, 16))
			found = i;
	if (found)
		FK_GIVE(fk_v->attach, found);
	fk_vunlock();
	return found ? 0 : fk_verr(EINVAL);
}

void fk_verbs_live(struct rdmafake_live *l)
{
	fk_vlock();
	for (uint32_t i = 1; i <= fk_k->dev.pool.high; i++) {
		l->contexts += fk_devp(i)->contexts;
		l->pds += fk_devp(i)->pds;
		l->mrs += fk_devp(i)->mrs;
		l->cqs += fk_devp(i)->cqs;
		l->qps += fk_devp(i)->qps;
		l->srqs += fk_devp(i)->srqs;
	}
	l->channels_cq = fk_v->cc.pool.live;
	fk_vunlock();
	l->ahs = atomic_load(&live_ahs);
	l->xrcds = atomic_load(&live_xrcds);
}
