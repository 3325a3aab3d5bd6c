/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Pools of objects, and the numbers by which programs know them. */
#include "real.h"
#include "fake.h"

#include <string.h>

uint32_t fk_take(struct fk_pool *pool, void *at, size_t size, uint32_t max)
{
	struct fk_node *n;
	uint32_t idx, gen;

	if (pool->free) {
		idx = pool->free;
		n = (struct fk_node *)((char *)at + idx * size);
		pool->free = n->next;
	} else if (pool->high < max) {
		idx = ++pool->high;
		n = (struct fk_node *)((char *)at + idx * size);
	} else {
		return 0;
	}
	gen = n->gen + 1;
	memset(n, 0, size);
	n->gen = gen;
	n->live = 1;
	pool->live++;
	return idx;
}

void fk_give(struct fk_pool *pool, void *at, size_t size, uint32_t idx)
{
	struct fk_node *n = (struct fk_node *)((char *)at + idx * size);

	n->live = 0;
	n->next = pool->free;
	pool->free = idx;
	pool->live--;
}

uint32_t fk_handle_new(struct fk_handles *h, uint32_t slot)
{
	uint32_t i, n;

	if (h->mode == FK_REUSE_LIFO && h->last_freed) {
		i = h->last_freed - 1;
		h->last_freed = 0;
		if (!h->slot[i]) {
			h->slot[i] = slot;
			return h->base + i;
		}
	}
	for (n = 0; n < FK_HANDLES; n++) {
		i = (h->hint + n) % FK_HANDLES;
		if (h->slot[i])
			continue;
		h->slot[i] = slot;
		h->hint = (i + 1) % FK_HANDLES;
		return h->base + i;
	}
	return UINT32_MAX;
}

uint32_t fk_handle_find(const struct fk_handles *h, uint32_t handle)
{
	uint32_t i = handle - h->base;

	return i < FK_HANDLES ? h->slot[i] : 0;
}

void fk_handle_free(struct fk_handles *h, uint32_t handle)
{
	uint32_t i = handle - h->base;

	if (i >= FK_HANDLES)
		return;
	h->slot[i] = 0;
	h->last_freed = i + 1;
	if (h->mode != FK_REUSE_NEVER && i < h->hint)
		h->hint = i;
}
