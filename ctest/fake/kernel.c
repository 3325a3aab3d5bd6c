#include "real.h"
#include "fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

struct fk_kernel *fk_k;

enum { FK_MAGIC = 0x726d6b31 };

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

static void fill_new(struct fk_kernel *k, bool shared)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	/* A fork's child has a helper thread too, and may end while that is inside. */
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&k->lock, &a);
	fk_verbs_locks_init(k, &a);
	pthread_mutexattr_destroy(&a);
	k->shared = shared;
	k->magic = FK_MAGIC;
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

static void *map_shared_file(const char *path, size_t size)
{
	int fd = REAL(open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *p;

	if (fd < 0)
		return NULL;
	p = ftruncate(fd, (off_t)size) ? MAP_FAILED :
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	REAL(close)(fd);
	return p == MAP_FAILED ? NULL : p;
}

/* Returns 1 for the process that has to fill in the devices. */
int fk_kernel_start(void)
{
	const char *path = getenv("RDMAFAKE_SHARED");
	size_t verbs_off = (sizeof(struct fk_kernel) + 4095) & ~(size_t)4095;
	size_t size = verbs_off + fk_verbs_size();
	uint32_t fresh = 0;
	void *p;

	if (path && *path) {
		p = map_shared_file(path, size);
		/* The peer process reads and writes our buffers. */
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	} else {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			p = NULL;
	}
	if (!p)
		return -errno;
	fk_k = p;
	if (fk_k->size && fk_k->size != size) {
		fprintf(stderr, "rdmafake: %s is of another version, remove it\n", path);
		return -EINVAL;
	}
	if (atomic_compare_exchange_strong(&fk_k->ready, &fresh, 1)) {
		fk_k->size = size;
		fk_k->verbs_off = verbs_off;
		fill_new(fk_k, path && *path);
		return 1;
	}
	for (int i = 0; i < 5000 && atomic_load(&fk_k->ready) != 2; i++)
		usleep(1000);
	return 0;
}
