/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The C API that a test program reaches with dlsym. */
#include "real.h"
#include "fake.h"
#include "conn.h"

#include <errno.h>
#include <string.h>

FK_EXPORT int rdmafake_script(const char *text)
{
	int start = fk_start();

	if (start)
		return -start;
	return fk_script_text(text);
}

FK_EXPORT void rdmafake_reset(void)
{
	if (fk_start())
		return;
	fk_rules_clear();
}

static void fill(struct rdma_ucm_event_resp *r, const struct rdmafake_event *e, bool ud)
{
	size_t len = e->pdata_len & 255;

	if (ud) {
		r->param.ud.qp_num = e->qp_num;
		r->param.ud.qkey = e->qkey;
		r->param.ud.private_data_len = (uint8_t)len;
		if (e->pdata)
			memcpy(r->param.ud.private_data, e->pdata, len);
	} else {
		r->param.conn.qp_num = e->qp_num;
		r->param.conn.qkey = e->qkey;
		r->param.conn.private_data_len = (uint8_t)len;
		r->param.conn.responder_resources = e->responder;
		r->param.conn.initiator_depth = e->initiator;
		r->param.conn.retry_count = e->retry;
		r->param.conn.rnr_retry_count = e->rnr;
		r->param.conn.flow_control = e->flow;
		r->param.conn.srq = e->srq;
		if (e->pdata)
			memcpy(r->param.conn.private_data, e->pdata, len);
	}
	if (e->arg_set)
		memcpy(&r->param, &e->arg, sizeof(e->arg));
}

/* A made-up request needs a new kernel id, or the library could not take it. */
static int make_request(uint32_t listener, uint32_t ev)
{
	uint32_t child = fk_id_new(fk_idp(listener)->chan);

	if (!child)
		return -ENOMEM;
	fk_idp(child)->child_pending = 1;
	fk_idp(child)->ps = fk_idp(listener)->ps;
	fk_idp(child)->qp_type = fk_idp(listener)->qp_type;
	fk_idp(child)->state = FK_CONNECT;
	fk_idp(child)->cm = fk_is_ud(fk_idp(child)) ? FK_CM_SIDR_RCVD : FK_CM_REQ_RCVD;
	fk_idp(child)->src = fk_idp(listener)->src;
	fk_idp(child)->dst = fk_idp(listener)->src;
	fk_idp(child)->listener = listener;
	for (uint32_t i = 1; i <= fk_k->dev.pool.high; i++)
		if (fk_devp(i)->present) {
			fk_id_attach(child, i);
			break;
		}
	fk_event_resp(ev)->id = fk_idp(child)->handle;
	fk_eventp(ev)->child = child;
	return 0;
}

FK_EXPORT int rdmafake_inject(const struct rdmafake_event *e)
{
	uint32_t id, ev, chan = 0;
	int r = 0;

	if (fk_start())
		return -ENODEV;
	fk_lock();
	id = fk_handle_find(&fk_k->id_handle, e->handle);
	if (id)
		chan = fk_idp(id)->chan;
	else if (fk_fd_kind(e->fd, &chan) != FK_FD_CHAN)
		chan = 0;
	ev = chan ? fk_event_new(id, e->event, e->status) : 0;
	if (!ev) {
		fk_unlock();
		return chan ? -ENOMEM : -ENOENT;
	}
	if (!id)
		fk_event_resp(ev)->id = e->handle;
	fill(fk_event_resp(ev), e, e->ud || (id && fk_is_ud(fk_idp(id))));
	if (e->event == FK_EV_CONNECT_REQUEST && id && fk_idp(id)->state == FK_LISTEN)
		r = make_request(id, ev);
	if (e->uid_set)
		fk_event_resp(ev)->uid = e->uid;
	if (e->handle_set)
		fk_event_resp(ev)->id = e->report_handle;
	if (r)
		FK_GIVE(fk_k->event, ev);
	else
		fk_event_post(chan, ev);
	fk_unlock();
	return r;
}

FK_EXPORT int rdmafake_release(const char *label)
{
	int start = fk_start();

	if (start)
		return -start;
	return fk_hold_release(label);
}

FK_EXPORT int rdmafake_wait_held(const char *label, int timeout_ms)
{
	int start = fk_start();

	if (start)
		return -start;
	return fk_hold_held(label, timeout_ms);
}

FK_EXPORT uint64_t rdmafake_commands(int cmd)
{
	return fk_count_cmd(cmd);
}

FK_EXPORT uint64_t rdmafake_foreign(void)
{
	if (fk_start())
		return 0;
	return __atomic_load_n(&fk_k->foreign, __ATOMIC_RELAXED);
}

FK_EXPORT uint64_t rdmafake_verbs(const char *name)
{
	return fk_count_verb(name);
}

FK_EXPORT int rdmafake_device_remove(const char *name)
{
	int start = fk_start();

	if (start)
		return -start;
	return fk_dev_remove(name);
}

FK_EXPORT int rdmafake_device_return(const char *name)
{
	int start = fk_start();

	if (start)
		return -start;
	return fk_dev_return(name);
}

FK_EXPORT int rdmafake_async(const char *name, int event, int port)
{
	int start = fk_start();

	if (start)
		return -start;
	return fk_verbs_async(name, event, port);
}

FK_EXPORT void rdmafake_live(struct rdmafake_live *live)
{
	memset(live, 0, sizeof(*live));
	if (fk_start())
		return;
	fk_procs_reap();
	fk_lock();
	live->channels = fk_k->chan.pool.live;
	live->ids = fk_k->id.pool.live;
	live->events = fk_k->event.pool.live;
	live->multicasts = fk_k->mc.pool.live;
	fk_unlock();
	fk_verbs_live(live);
}

FK_EXPORT int rdmafake_handles(int fd, uint32_t *handles, int n)
{
	uint32_t chan = 0;
	int found = 0;

	if (fk_start())
		return -ENODEV;
	if (fd >= 0 && fk_fd_kind(fd, &chan) != FK_FD_CHAN)
		return -EBADF;
	fk_lock();
	for (uint32_t i = 1; i <= fk_k->id.pool.high; i++) {
		if (!fk_idp(i)->node.live || (chan && fk_idp(i)->chan != chan))
			continue;
		if (found < n)
			handles[found] = fk_idp(i)->handle;
		found++;
	}
	fk_unlock();
	return found;
}

FK_EXPORT int rdmafake_uid(uint32_t handle, uint64_t *uid)
{
	uint32_t id;

	if (fk_start())
		return -ENODEV;
	fk_lock();
	id = fk_handle_find(&fk_k->id_handle, handle);
	if (id)
		*uid = fk_idp(id)->uid;
	fk_unlock();
	return id ? 0 : -ENOENT;
}

FK_EXPORT int rdmafake_queued(int fd)
{
	uint32_t chan;
	int n = -EBADF;

	if (fk_start())
		return -ENODEV;
	fk_lock();
	if (fk_fd_kind(fd, &chan) == FK_FD_CHAN)
		n = (int)fk_chanp(chan)->queued;
	fk_unlock();
	return n;
}
