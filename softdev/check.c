/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whether the kernel's lists, counts and tables agree with each other, for tests. */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

static int faults;

static void wrong(const char *what, uint32_t i)
{
	if (!faults++)
		fk_say("the kernel is wrong: %s %u", what, i);
}

#define EXPECT(cond, i) do { if (!(cond)) wrong(#cond, (i)); } while (0)

static uint32_t count_live(const struct fk_pool *pool, const void *at, size_t size)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i <= pool->high; i++)
		n += ((const struct fk_node *)(const void *)((const char *)at + i * size))->live;
	return n;
}

static void pool_of(const char *name, const struct fk_pool *pool, const void *at, size_t size)
{
	uint32_t free = 0, i = pool->free;

	for (; i && free <= pool->high; free++) {
		const struct fk_node *n = (const struct fk_node *)(const void *)((const char *)at + i * size);

		if (i > pool->high || n->live) {
			wrong(name, i);
			return;
		}
		i = n->next;
	}
	if (count_live(pool, at, size) != pool->live || pool->live + free != pool->high)
		wrong(name, pool->live);
}

#define POOL(p) pool_of(#p, &(p).pool, (p).at, sizeof((p).at[0]))

/* Each event once, in a queue or on its way to one. */
static void events(void)
{
	uint8_t *seen = calloc(1, FK_MAX_EVENT + 1);

	for (uint32_t c = 1; seen && c <= fk_k->chan.pool.high; c++) {
		uint32_t n = 0, last = 0;

		if (!fk_chanp(c)->node.live)
			continue;
		for (uint32_t ev = fk_chanp(c)->head; ev && n <= FK_MAX_EVENT; ev = fk_eventp(ev)->next, n++) {
			EXPECT(fk_eventp(ev)->node.live && !seen[ev]++, ev);
			last = ev;
		}
		EXPECT(n == fk_chanp(c)->queued && last == fk_chanp(c)->tail, c);
	}
	for (uint32_t ev = 1; seen && ev <= fk_k->event.pool.high; ev++)
		if (fk_eventp(ev)->node.live)
			EXPECT(seen[ev] || fk_eventp(ev)->late, ev);
	free(seen);
}

static void chans(void)
{
	for (uint32_t c = 1; c <= fk_k->chan.pool.high; c++) {
		uint32_t prev = 0, n = 0;

		if (!fk_chanp(c)->node.live)
			continue;
		for (uint32_t i = fk_chanp(c)->first_id; i && n <= FK_MAX_ID; i = fk_idp(i)->chan_next, n++) {
			EXPECT(fk_idp(i)->node.live && fk_idp(i)->chan == c && fk_idp(i)->chan_prev == prev, i);
			fk_idp(i)->checked = 1;
			prev = i;
		}
	}
	for (uint32_t ev = 1; ev <= fk_k->event.pool.high; ev++)
		if (fk_eventp(ev)->node.live && fk_eventp(ev)->child)
			fk_idp(fk_eventp(ev)->child)->checked = 1;
}

static void ids(void)
{
	uint32_t handles = 0, bound = 0, chained = 0, waiting = 0, waited = 0;

	for (uint32_t i = 1; i <= fk_k->id.pool.high; i++) {
		const struct fk_id *p = fk_idp(i);

		if (!p->node.live)
			continue;
		EXPECT(p->checked, i);
		EXPECT(fk_handle_find(&fk_k->id_handle, p->handle) == i, i);
		bound += p->bound_port != 0;
		waiting += p->waiting;
		waited += p->waits_for && fk_idp(p->waits_for)->node.gen == p->waits_gen;
		for (uint32_t m = p->mc_first; m; m = fk_mcp(m)->next_in_id)
			EXPECT(fk_mcp(m)->node.live && fk_mcp(m)->id == i, m);
	}
	for (uint32_t i = 0; i < FK_HANDLES; i++)
		handles += fk_k->id_handle.slot[i] != 0;
	for (uint32_t port = 0; port < 65536; port++)
		for (uint32_t i = fk_k->port_head[port]; i && chained <= FK_MAX_ID; i = fk_idp(i)->port_next, chained++)
			EXPECT(fk_idp(i)->node.live && fk_idp(i)->bound_port == port, port);
	EXPECT(handles == fk_k->id.pool.live, handles);
	EXPECT(bound == chained, bound);
	EXPECT(waiting == waited, waiting);
}

static void ring(const struct fk_ring *r, uint32_t i)
{
	EXPECT(r->count <= r->used && r->used <= r->depth && (!r->depth || r->head < r->depth), i);
}

static void queues(void)
{
	struct { uint32_t qps, cqs, srqs, mrs; } *n = calloc(FK_MAX_DEV + 1, sizeof(*n));

	for (uint32_t i = 1; n && i <= fk_v->qp.pool.high; i++)
		if (fk_qpp(i)->node.live) {
			ring(&fk_qpp(i)->sq, i);
			ring(&fk_qpp(i)->rq, i);
			EXPECT(!fk_qpp(i)->busy, i);
			n[fk_qpp(i)->dev].qps++;
		}
	for (uint32_t i = 1; n && i <= fk_v->cq.pool.high; i++)
		if (fk_cqp(i)->node.live) {
			EXPECT(fk_cqp(i)->count <= fk_cqp(i)->depth && fk_cqp(i)->head < fk_cqp(i)->depth, i);
			EXPECT(fk_cqp(i)->in_cc == (fk_cqp(i)->events != 0), i);
			n[fk_cqp(i)->dev].cqs++;
		}
	for (uint32_t i = 1; n && i <= fk_v->srq.pool.high; i++)
		if (fk_srqp(i)->node.live)
			n[fk_srqp(i)->dev].srqs++;
	for (uint32_t i = 1; n && i <= fk_v->mr.pool.high; i++)
		if (fk_mrp(i)->node.live)
			n[fk_mrp(i)->dev].mrs++;
	for (uint32_t d = 1; n && d <= fk_k->dev.pool.high; d++)
		EXPECT(n[d].qps == fk_devp(d)->qps && n[d].cqs == fk_devp(d)->cqs &&
		       n[d].srqs == fk_devp(d)->srqs && n[d].mrs == fk_devp(d)->mrs, d);
	free(n);
}

/* Every block that was ever taken is in use or free. */
static void heap(void)
{
	uint64_t sum = fk_heap_free();

	for (uint32_t i = 1; i <= fk_v->qp.pool.high; i++)
		if (fk_qpp(i)->node.live)
			sum += fk_ring_block(&fk_qpp(i)->sq) + fk_ring_block(&fk_qpp(i)->rq);
	for (uint32_t i = 1; i <= fk_v->srq.pool.high; i++)
		if (fk_srqp(i)->node.live)
			sum += fk_ring_block(&fk_srqp(i)->rq);
	for (uint32_t i = 1; i <= fk_v->cq.pool.high; i++)
		if (fk_cqp(i)->node.live)
			sum += fk_heap_block(fk_cqp(i)->depth * sizeof(struct fk_cqe));
	if (sum != fk_heap_taken())
		wrong("bytes of the heap that nobody has:", (uint32_t)(fk_heap_taken() - sum));
}

FK_EXPORT int rdmafake_check(void)
{
	if (fk_start())
		return -ENODEV;
	fk_lock();
	fk_vlock();
	faults = 0;
	for (uint32_t i = 1; i <= fk_k->id.pool.high; i++)
		fk_idp(i)->checked = 0;
	POOL(fk_k->chan);
	POOL(fk_k->id);
	POOL(fk_k->event);
	POOL(fk_k->mc);
	POOL(fk_v->cc);
	POOL(fk_v->cq);
	POOL(fk_v->qp);
	POOL(fk_v->srq);
	POOL(fk_v->mr);
	POOL(fk_v->attach);
	POOL(fk_v->use);
	events();
	chans();
	ids();
	queues();
	heap();
	fk_vunlock();
	fk_unlock();
	return faults;
}
