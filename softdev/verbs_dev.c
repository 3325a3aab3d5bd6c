/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Device list, contexts and everything that can be asked of a device. */
#include "verbs.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fk_udev *known[FK_MAX_DEV + 1];

/* Stays allocated: programs keep pointers of devices that they have open. */
static struct fk_udev *udev(uint32_t dev)
{
	const struct fk_dev *d = fk_devp(dev);
	struct fk_udev *u = known[dev];

	if (u)
		return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->dev = dev;
	u->ib.node_type = d->transport == FK_TRANSPORT_IWARP ? IBV_NODE_RNIC :
			  d->transport == FK_TRANSPORT_USNIC ? IBV_NODE_USNIC : IBV_NODE_CA;
	u->ib.transport_type = (enum ibv_transport_type)d->transport;
	snprintf(u->ib.name, sizeof(u->ib.name), "%s", d->name);
	snprintf(u->ib.dev_name, sizeof(u->ib.dev_name), "uverbs%u", d->index);
	snprintf(u->ib.dev_path, sizeof(u->ib.dev_path), "/sys/class/infiniband_verbs/uverbs%u", d->index);
	snprintf(u->ib.ibdev_path, sizeof(u->ib.ibdev_path), "/sys/class/infiniband/%s", d->name);
	return known[dev] = u;
}

#undef ibv_get_device_list
FK_EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list;
	int err, n = 0;

	if (num)
		*num = 0;
	err = fk_start();
	if (!err)
		err = FK_VERB("get_device_list", NULL);
	list = err ? NULL : calloc(FK_MAX_DEV + 1, sizeof(*list));
	if (!list)
		return FK_NULL(err ? err : ENOMEM);
	fk_hold(&list_lock);
	fk_lock();
	for (uint32_t i = 1; i <= fk_k->dev.pool.high; i++)
		if (fk_devp(i)->node.live && fk_devp(i)->present && udev(i))
			list[n++] = &udev(i)->ib;
	fk_unlock();
	fk_let_go(&list_lock);
	if (num)
		*num = n;
	return list;
}

FK_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	(void)FK_VERB("free_device_list", NULL);
	free(list);
}

FK_EXPORT const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

FK_EXPORT __be64 ibv_get_device_guid(struct ibv_device *d)
{
	return htobe64(fk_devp(((struct fk_udev *)d)->dev)->guid);
}

FK_EXPORT int ibv_get_device_index(struct ibv_device *d)
{
	const struct fk_dev *k = fk_devp(((struct fk_udev *)d)->dev);

	return k->listed_index_known ? (int)k->index : -1;
}

static struct fk_uctx *contexts;

FK_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *ib)
{
	int err = FK_VERB("open_device", ib->name);
	uint32_t dev = ((struct fk_udev *)ib)->dev;
	struct fk_uctx *c;
	struct ibv_context *x;

	if (!err && !fk_devp(dev)->present)
		err = ENODEV;
	c = err ? NULL : calloc(1, sizeof(*c));
	if (!c)
		return FK_NULL(err ? err : ENOMEM);
	x = &c->v.context;
	x->async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	x->cmd_fd = x->async_fd;
	if (x->async_fd < 0) {
		err = errno;
		free(c);
		return FK_NULL(err);
	}
	c->dev = dev;
	c->last = &c->first;
	pthread_mutex_init(&c->lock, NULL);
	x->device = ib;
	x->num_comp_vectors = 1;
	pthread_mutex_init(&x->mutex, NULL);
	x->abi_compat = __VERBS_ABI_IS_EXTENDED;
	x->ops.poll_cq = fk_poll_cq;
	x->ops.req_notify_cq = fk_req_notify;
	x->ops.post_send = fk_post_send;
	x->ops.post_recv = fk_post_recv;
	x->ops.post_srq_recv = fk_post_srq_recv;
	c->v.sz = sizeof(c->v);
	c->v.query_port = fk_query_port;
	c->v.query_device_ex = fk_query_device_ex;
	c->v.create_qp_ex = fk_make_qp;
	c->v.create_srq_ex = fk_make_srq;
	c->v.get_srq_num = fk_srq_number;
	c->v.open_xrcd = fk_open_xrcd;
	c->v.close_xrcd = fk_close_xrcd;
	fk_vlock();
	c->use = fk_use_new(FK_USE_CONTEXT, dev);
	c->gen = fk_usep(c->use)->node.gen;
	fk_vunlock();
	fk_hold(&list_lock);
	c->next = contexts;
	contexts = c;
	fk_let_go(&list_lock);
	return x;
}

FK_EXPORT int ibv_close_device(struct ibv_context *x)
{
	struct fk_uctx *c = fk_uctx(x), **at;
	int err = FK_VERB("close_device", fk_ctx_name(x));

	if (err)
		return fk_verr(err);
	fk_hold(&list_lock);
	for (at = &contexts; *at && *at != c; at = &(*at)->next)
		;
	if (*at)
		*at = c->next;
	fk_let_go(&list_lock);
	fk_vlock();
	if (FK_LIVE(fk_usep(c->use), c))
		fk_use_end(c->use);
	fk_vunlock();
	REAL(close)(x->async_fd);
	while (c->first) {
		struct fk_uasync *a = c->first;

		c->first = a->next;
		free(a);
	}
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&x->mutex);
	free(c);
	return 0;
}

static void raise_on(struct fk_uctx *c, const struct ibv_async_event *ev)
{
	struct fk_uasync *a = calloc(1, sizeof(*a));
	uint64_t one = 1;

	if (!a)
		return;
	a->ev = *ev;
	fk_hold(&c->lock);
	*c->last = a;
	c->last = &a->next;
	fk_let_go(&c->lock);
	if (REAL(write)(c->v.context.async_fd, &one, sizeof(one)) < 0)
		fk_log_note("lost asynchronous event");
}

void fk_async_raise(uint64_t user_ctx, const struct ibv_async_event *ev)
{
	raise_on(fk_uctx((struct ibv_context *)(uintptr_t)user_ctx), ev);
}

void fk_async_to_dev(uint32_t dev, const struct ibv_async_event *ev)
{
	fk_hold(&list_lock);
	for (struct fk_uctx *c = contexts; c; c = c->next)
		if (c->dev == dev)
			raise_on(c, ev);
	fk_let_go(&list_lock);
}

int fk_verbs_async(const char *name, int type, int port)
{
	struct ibv_async_event ev = { .event_type = (enum ibv_event_type)type };
	uint32_t dev;

	fk_lock();
	dev = fk_dev_by_name(name);
	fk_unlock();
	if (!dev)
		return -ENODEV;
	ev.element.port_num = port;
	fk_async_to_dev(dev, &ev);
	return 0;
}

FK_EXPORT int ibv_get_async_event(struct ibv_context *x, struct ibv_async_event *ev)
{
	struct fk_uctx *c = fk_uctx(x);
	struct fk_uasync *a = NULL;
	uint64_t unit;

	while (!a) {
		if (REAL(read)(x->async_fd, &unit, sizeof(unit)) < 0)
			return -1;
		fk_hold(&c->lock);
		a = c->first;
		if (a && !(c->first = a->next))
			c->last = &c->first;
		fk_let_go(&c->lock);
	}
	*ev = a->ev;
	free(a);
	return 0;
}

FK_EXPORT void ibv_ack_async_event(struct ibv_async_event *ev)
{
	(void)ev;
}

FK_EXPORT int ibv_fork_init(void)
{
	int err = FK_VERB("fork_init", NULL);

	return err ? fk_verr(err) : 0;
}

FK_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	(void)qp;
	return NULL;
}

FK_EXPORT int ibv_query_gid(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid)
{
	const struct fk_dev *d = fk_devp(fk_uctx(c)->dev);
	int err = FK_VERB("query_gid", fk_ctx_name(c));

	if (err || !port || port > d->nports || index < 0 || index >= FK_MAX_GIDS) {
		errno = err ? err : EINVAL;
		return -1;
	}
	memcpy(gid, d->port[port - 1].gid[index], 16);
	return 0;
}

FK_EXPORT int _ibv_query_gid_ex(struct ibv_context *c, uint32_t port, uint32_t index,
				struct ibv_gid_entry *e, uint32_t flags, size_t size)
{
	const struct fk_dev *d = fk_devp(fk_uctx(c)->dev);
	int err = FK_VERB("query_gid", fk_ctx_name(c));
	struct ibv_gid_entry out = { .gid_index = index, .port_num = port };

	if (err || flags || !port || port > d->nports)
		return fk_verr(err ? err : EINVAL);
	if (index >= d->port[port - 1].ngids)
		return fk_verr(ENODATA);
	memcpy(&out.gid, d->port[port - 1].gid[index], 16);
	out.gid_type = d->port[port - 1].gid_type[index];
	memcpy(e, &out, size < sizeof(out) ? size : sizeof(out));
	return 0;
}

FK_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *e, size_t max,
				       uint32_t flags, size_t size)
{
	const struct fk_dev *d = fk_devp(fk_uctx(c)->dev);
	size_t n = 0;

	for (uint32_t p = 1; p <= d->nports; p++)
		for (uint32_t g = 0; g < d->port[p - 1].ngids && n < max; g++)
			if (!_ibv_query_gid_ex(c, p, g, (struct ibv_gid_entry *)(void *)((char *)e + n * size),
					       flags, size))
				n++;
	return (ssize_t)n;
}

FK_EXPORT int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *pkey)
{
	const struct fk_dev *d = fk_devp(fk_uctx(c)->dev);
	int err = FK_VERB("query_pkey", fk_ctx_name(c));

	if (err || !port || port > d->nports || index < 0 || index >= FK_MAX_PKEYS) {
		errno = err ? err : EINVAL;
		return -1;
	}
	*pkey = htobe16(d->port[port - 1].pkey[index]);
	return 0;
}

FK_EXPORT int ibv_get_pkey_index(struct ibv_context *c, uint8_t port, __be16 pkey)
{
	const struct fk_dev *d = fk_devp(fk_uctx(c)->dev);
	int err = FK_VERB("get_pkey_index", fk_ctx_name(c));

	if (!err && port && port <= d->nports)
		for (uint32_t i = 0; i < d->port[port - 1].npkeys; i++)
			if (d->port[port - 1].pkey[i] == be16toh(pkey))
				return (int)i;
	errno = err ? err : EINVAL;
	return -1;
}
