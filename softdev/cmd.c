/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One command: what the script wants first, then the kernel's answer. */
#include "real.h"
#include "fake.h"

#include <errno.h>
#include <string.h>

static int no_such_command(struct fk_call *c)
{
	(void)c;
	return -ENOSYS;
}

static int (*const table[])(struct fk_call *) = {
	[RDMA_USER_CM_CMD_CREATE_ID] = fk_cmd_create,
	[RDMA_USER_CM_CMD_DESTROY_ID] = fk_cmd_destroy,
	[RDMA_USER_CM_CMD_BIND_IP] = fk_cmd_bind_ip,
	[RDMA_USER_CM_CMD_RESOLVE_IP] = fk_cmd_resolve_ip,
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = fk_cmd_resolve_route,
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = fk_cmd_query_route,
	[RDMA_USER_CM_CMD_CONNECT] = fk_cmd_connect,
	[RDMA_USER_CM_CMD_LISTEN] = fk_cmd_listen,
	[RDMA_USER_CM_CMD_ACCEPT] = fk_cmd_accept,
	[RDMA_USER_CM_CMD_REJECT] = fk_cmd_reject,
	[RDMA_USER_CM_CMD_DISCONNECT] = fk_cmd_disconnect,
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = fk_cmd_init_qp_attr,
	[RDMA_USER_CM_CMD_GET_EVENT] = fk_cmd_get_event,
	[RDMA_USER_CM_CMD_GET_OPTION] = no_such_command,
	[RDMA_USER_CM_CMD_SET_OPTION] = fk_cmd_set_option,
	[RDMA_USER_CM_CMD_NOTIFY] = fk_cmd_notify,
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = fk_cmd_join_ip,
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = fk_cmd_leave,
	[RDMA_USER_CM_CMD_MIGRATE_ID] = fk_cmd_migrate,
	[RDMA_USER_CM_CMD_QUERY] = fk_cmd_query,
	[RDMA_USER_CM_CMD_BIND] = fk_cmd_bind,
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = fk_cmd_resolve_addr,
	[RDMA_USER_CM_CMD_JOIN_MCAST] = fk_cmd_join,
	[FK_CMD_RESOLVE_IB_SERVICE] = fk_cmd_resolve_service,
	[FK_CMD_WRITE_CM_EVENT] = fk_cmd_write_event,
};

/* Where the id's handle stands in each request, for rules that name a handle. */
static uint32_t handle_in(const struct fk_call *c)
{
	size_t off;
	uint32_t h = 0;

	switch (c->cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
	case RDMA_USER_CM_CMD_GET_EVENT:
	case RDMA_USER_CM_CMD_GET_OPTION:
		return UINT32_MAX;
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_LEAVE_MCAST:
	case RDMA_USER_CM_CMD_QUERY:
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
	case RDMA_USER_CM_CMD_MIGRATE_ID:
	case RDMA_USER_CM_CMD_SET_OPTION:
		off = 8;
		break;
	case RDMA_USER_CM_CMD_BIND_IP:
		off = offsetof(struct rdma_ucm_bind_ip, id);
		break;
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		off = offsetof(struct rdma_ucm_resolve_ip, id);
		break;
	case RDMA_USER_CM_CMD_CONNECT:
		off = offsetof(struct rdma_ucm_connect, id);
		break;
	case RDMA_USER_CM_CMD_ACCEPT:
		off = offsetof(struct rdma_ucm_accept, id);
		break;
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
		off = offsetof(struct rdma_ucm_join_ip_mcast, id);
		break;
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		off = offsetof(struct rdma_ucm_join_mcast, id);
		break;
	default:
		off = 0;
	}
	if (off + sizeof(h) > c->in_avail)
		return UINT32_MAX;
	memcpy(&h, c->in + off, sizeof(h));
	return h;
}

/* The kernel copies the whole structure, whatever the header says. */
void fk_request(const struct fk_call *c, void *to, size_t size)
{
	size_t n = c->in_avail < size ? c->in_avail : size;

	memset(to, 0, size);
	memcpy(to, c->in, n);
}

int fk_respond(struct fk_call *c, uint64_t to, const void *data, size_t size)
{
	if (!to)
		return -EFAULT;
	if (size > sizeof(c->answer))
		size = sizeof(c->answer);
	memcpy(c->answer, data, size);
	c->answer_len = size;
	for (int i = 0; i < c->plan.npatch; i++)
		for (uint32_t j = 0; j < c->plan.patch[i].len; j++)
			if (c->plan.patch[i].off + j < size)
				c->answer[c->plan.patch[i].off + j] = c->plan.patch[i].bytes[j];
	memcpy((void *)(uintptr_t)to, c->answer, size);
	return 0;
}

uint32_t fk_find(const struct fk_call *c, uint32_t handle, int *err)
{
	uint32_t id = fk_handle_find(&fk_k->id_handle, handle);

	if (!id || fk_idp(id)->child_pending)
		*err = -ENOENT;
	else if (fk_idp(id)->chan != c->chan)
		*err = -EINVAL;
	else if (fk_idp(id)->closing)
		*err = -EIO;
	else
		return id;
	return 0;
}

/* Most commands are refused on an id that has no device. */
uint32_t fk_find_dev(const struct fk_call *c, uint32_t handle, int *err)
{
	uint32_t id = fk_find(c, handle, err);

	if (id && !fk_idp(id)->dev) {
		*err = -EINVAL;
		return 0;
	}
	return id;
}

static int run_locked(struct fk_call *c)
{
	uint32_t chan;
	int r;

	fk_lock();
	/* The fd may have been closed by another thread since the look-up. */
	if (fk_fd_kind(c->fd, &chan) != FK_FD_CHAN || chan != c->chan || !fk_chanp(chan)->node.live)
		r = -EBADF;
	else
		r = table[c->cmd](c);
	fk_unlock();
	return r;
}

static int run(struct fk_call *c)
{
	int r;

	if (c->cmd == RDMA_USER_CM_CMD_GET_EVENT)
		return fk_get_event(c);
	r = run_locked(c);
	/* A process that has just died is in nobody's way. */
	if (fk_shared() && (r == -EADDRINUSE || r == -EADDRNOTAVAIL || r == -FK_OWNER_GONE)) {
		fk_procs_reap();
		r = run_locked(c);
	}
	return r == -FK_OWNER_GONE ? -EAGAIN : r;
}

static void inject_planned(const struct fk_call *c, uint32_t handle)
{
	for (int i = 0; i < c->plan.ninject; i++) {
		struct rdmafake_event e = c->plan.inject[i];

		if (c->plan.inject_self[i]) {
			e.handle = handle;
			/* The answer of CREATE_ID is the first to know the handle. */
			if (c->cmd == RDMA_USER_CM_CMD_CREATE_ID)
				memcpy(&e.handle, c->answer, sizeof(e.handle));
		}
		e.fd = c->fd;
		rdmafake_inject(&e);
	}
}

static ssize_t finish(struct fk_call *c, ssize_t ret, int err)
{
	if (fk_log_on())
		fk_log_command(c, ret, err);
	errno = ret < 0 ? err : c->errno_before;
	return ret;
}

/* A write needs the credentials of the open: a forked child has its own, and setuid() makes new ones. */
static bool allowed(uint32_t chan)
{
	return fk_chanp(chan)->opener == fk_pid() && fk_chanp(chan)->credentials == fk_credentials();
}

ssize_t fk_command(int fd, uint32_t chan, const void *buf, size_t len)
{
	struct fk_call c;
	struct rdma_ucm_cmd_hdr hdr;
	uint32_t handle = UINT32_MAX;
	ssize_t ret = (ssize_t)len;
	int r;

	c.fd = fd;
	c.errno_before = errno;
	c.chan = chan;
	c.answer_len = 0;
	memset(&c.plan, 0, offsetof(struct fk_plan, patch));
	c.plan.ninject = 0;
	c.cmd = UINT32_MAX;
	c.in_len = c.out_len = 0;
	c.in = buf;
	c.in_avail = 0;
	if (len < sizeof(hdr))
		return finish(&c, -1, allowed(chan) ? EINVAL : EACCES);
	memcpy(&hdr, buf, sizeof(hdr));
	c.cmd = hdr.cmd;
	c.in_len = hdr.in;
	c.out_len = hdr.out;
	c.in = (const uint8_t *)buf + sizeof(hdr);
	c.in_avail = len - sizeof(hdr);
	fk_kill_point(fk_cmd_name(c.cmd));
	if (fk_chanp(chan)->opener != fk_pid())
		__atomic_add_fetch(&fk_k->foreign, 1, __ATOMIC_RELAXED);
	if (!allowed(chan))
		return finish(&c, -1, EACCES);
	if (fk_rules_any()) {
		handle = handle_in(&c);
		fk_plan_command(c.cmd, handle, &c.plan);
		if (c.plan.hold)
			fk_hold_wait(c.plan.label);
		if (c.plan.err)
			return finish(&c, -1, c.plan.err);
	} else {
		fk_plan_command(c.cmd, handle, NULL);
	}
	if (hdr.cmd > FK_CMD_LAST || hdr.cmd > fk_k->tune.max_cmd || hdr.in + sizeof(hdr) > len)
		return finish(&c, -1, EINVAL);
	r = c.plan.skip ? 0 : run(&c);
	if (r < 0)
		return finish(&c, -1, -r);
	inject_planned(&c, handle);
	if (c.plan.hold_after)
		fk_hold_wait(c.plan.label_after);
	if (c.plan.err_after)
		return finish(&c, -1, c.plan.err_after);
	if (c.plan.has_size)
		ret = c.plan.size_rel ? ret + c.plan.size : c.plan.size;
	return finish(&c, ret, 0);
}
