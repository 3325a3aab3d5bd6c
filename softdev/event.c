/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The event queue of each open file. */
#include "real.h"
#include "fake.h"
#include "conn.h"

#include <errno.h>
#include <string.h>

struct rdma_ucm_event_resp *fk_event_resp(uint32_t ev)
{
	return (struct rdma_ucm_event_resp *)(void *)fk_eventp(ev)->resp;
}

uint32_t fk_event_new(uint32_t id, uint32_t type, int status)
{
	struct rdma_ucm_event_resp *r;
	uint32_t ev = FK_TAKE(fk_k->event);

	if (!ev)
		return 0;
	r = fk_event_resp(ev);
	fk_eventp(ev)->id = id;
	fk_eventp(ev)->resp_len = sizeof(*r);
	r->event = type;
	r->status = (uint32_t)status;
	if (id) {
		r->uid = fk_idp(id)->uid;
		r->id = fk_idp(id)->handle;
	}
	return ev;
}

/* The wire carries a block of fixed size; iWARP and scripts give the exact length. */
void fk_event_pdata(uint32_t ev, const void *data, size_t len, size_t wire)
{
	struct rdma_ucm_event_resp *r = fk_event_resp(ev);
	uint32_t id = fk_eventp(ev)->id;
	bool ud = id && fk_is_ud(fk_idp(id));
	bool exact = fk_k->tune.exact_pdata || (id && fk_is_iwarp(fk_idp(id)));
	uint8_t shown = (uint8_t)(exact || wire < len ? len : wire);

	if (ud) {
		memcpy(r->param.ud.private_data, data, len);
		r->param.ud.private_data_len = shown;
	} else {
		memcpy(r->param.conn.private_data, data, len);
		r->param.conn.private_data_len = shown;
	}
}

void fk_event_conn(uint32_t ev, const struct fk_conn *from)
{
	struct rdma_ucm_event_resp *r = fk_event_resp(ev);
	struct rdma_ucm_conn_param *p = &r->param.conn;

	p->qp_num = from->qp_num;
	/* What one side offers as responder is what the other may initiate. */
	p->responder_resources = from->initiator;
	p->initiator_depth = from->responder;
	p->flow_control = from->flow;
	p->retry_count = from->retry;
	p->rnr_retry_count = from->rnr;
	p->srq = from->srq;
	r->ece.vendor_id = from->ece_vendor;
	r->ece.attr_mod = from->ece_mod;
}

static void wake(uint32_t chan)
{
	int fd = fk_chan_fd(chan);
	uint64_t one = 1;

	if (fd >= 0) {
		if (REAL(write)(fd, &one, sizeof(one)) < 0)
			fk_log_note("lost wake-up on fd %d", fd);
		return;
	}
	fk_chanp(chan)->wake_owed++;
	for (int i = 0; i < FK_MAX_HOLDERS; i++)
		if (fk_chanp(chan)->holder[i].fds)
			fk_wake_process(fk_chanp(chan)->holder[i].pid);
}

void fk_wake_add(uint32_t chan, int fd)
{
	uint64_t one = 1;

	while (fk_chanp(chan)->wake_owed) {
		fk_chanp(chan)->wake_owed--;
		if (REAL(write)(fd, &one, sizeof(one)) < 0)
			return;
	}
}

/* Takes back one wake-up of an event that nobody will fetch. */
static void unwake(uint32_t chan)
{
	int fd = fk_chan_fd(chan);

	if (fk_chanp(chan)->wake_owed)
		fk_chanp(chan)->wake_owed--;
	else if (fd >= 0)
		fk_take_signal(fd);
}

static void lose(uint32_t ev)
{
	uint32_t child = fk_eventp(ev)->child;

	FK_GIVE(fk_k->event, ev);
	if (child) {
		/* Nothing is said to the peer: the request was lost on its way. */
		fk_idp(child)->peer = 0;
		fk_id_destroy(child);
	}
}

static void enqueue(uint32_t chan, uint32_t ev);

/* The id may have moved to another channel or be gone by now. */
static void late(uint64_t arg)
{
	uint32_t ev = (uint32_t)arg, id;

	fk_lock();
	id = fk_eventp(ev)->id;
	if (fk_eventp(ev)->node.live && fk_eventp(ev)->node.gen == (uint32_t)(arg >> 32)) {
		fk_eventp(ev)->late = 0;
		fk_k->nlate--;
		bool mc_gone = fk_eventp(ev)->mc && (!fk_mcp(fk_eventp(ev)->mc)->node.live ||
			fk_mcp(fk_eventp(ev)->mc)->node.gen != fk_eventp(ev)->mc_gen);

		if (fk_idp(id)->node.live && fk_idp(id)->node.gen == fk_eventp(ev)->id_gen && !mc_gone) {
			if (fk_eventp(ev)->child)
				fk_idp(fk_eventp(ev)->child)->chan = fk_idp(id)->chan;
			enqueue(fk_idp(id)->chan, ev);
		} else {
			lose(ev);
		}
	}
	fk_unlock();
}

/* A process that has ended delivers nothing any more; true while something is left. */
bool fk_events_end_step(pid_t pid)
{
	for (uint32_t i = 1; fk_k->nlate && i <= fk_k->event.pool.high; i++)
		if (fk_eventp(i)->node.live && fk_eventp(i)->late == pid) {
			fk_k->nlate--;
			lose(i);
			return true;
		}
	return false;
}

void fk_event_post(uint32_t chan, uint32_t ev)
{
	int what = ev ? fk_plan_event(fk_event_resp(ev)->event) : 0;

	if (!ev)
		return;
	if (what < 0) {
		lose(ev);
	} else if (what && fk_eventp(ev)->id) {
		fk_eventp(ev)->id_gen = fk_idp(fk_eventp(ev)->id)->node.gen;
		fk_eventp(ev)->mc_gen = fk_mcp(fk_eventp(ev)->mc)->node.gen;
		fk_eventp(ev)->late = fk_pid();
		fk_k->nlate++;
		fk_timer((unsigned)what, late, (uint64_t)fk_eventp(ev)->node.gen << 32 | ev);
	} else {
		enqueue(chan, ev);
	}
}

static void enqueue(uint32_t chan, uint32_t ev)
{
	struct fk_chan *c = fk_chanp(chan);

	fk_eventp(ev)->next = 0;
	if (c->tail)
		fk_eventp(c->tail)->next = ev;
	else
		c->head = ev;
	c->tail = ev;
	c->queued++;
	wake(chan);
}

/* An id whose user has set no uid yet hears nothing. */
void fk_event_simple(uint32_t id, uint32_t type, int status)
{
	if (id && fk_idp(id)->uid && !fk_idp(id)->child_pending)
		fk_event_post(fk_idp(id)->chan, fk_event_new(id, type, status));
}

static uint32_t unlink_event(struct fk_chan *c, uint32_t prev, uint32_t ev)
{
	uint32_t next = fk_eventp(ev)->next;

	if (prev)
		fk_eventp(prev)->next = next;
	else
		c->head = next;
	if (c->tail == ev)
		c->tail = prev;
	c->queued--;
	return next;
}

/* Forgets the queued events of an id, or of one multicast membership. */
void fk_events_purge(uint32_t id, uint32_t mc)
{
	uint32_t chan = mc ? fk_idp(fk_mcp(mc)->id)->chan : fk_idp(id)->chan;
	struct fk_chan *c = fk_chanp(chan);
	uint32_t prev = 0, ev = c->head;

	while (ev) {
		uint32_t this = ev, child;

		if (mc ? fk_eventp(ev)->mc != mc : fk_eventp(ev)->id != id) {
			prev = ev;
			ev = fk_eventp(ev)->next;
			continue;
		}
		ev = unlink_event(c, prev, this);
		child = fk_eventp(this)->child;
		FK_GIVE(fk_k->event, this);
		unwake(chan);
		if (child)
			fk_id_destroy(child);
	}
}

void fk_events_move(uint32_t id, uint32_t to)
{
	uint32_t from = fk_idp(id)->chan;
	struct fk_chan *c = fk_chanp(from);
	uint32_t prev = 0, ev = c->head;

	while (ev) {
		uint32_t this = ev;

		if (fk_eventp(ev)->id != id) {
			prev = ev;
			ev = fk_eventp(ev)->next;
			continue;
		}
		ev = unlink_event(c, prev, this);
		unwake(from);
		/* A request's unborn id goes with its listener. */
		if (fk_eventp(this)->child)
			fk_idp(fk_eventp(this)->child)->chan = to;
		enqueue(to, this);
	}
}

static int hand_out(struct fk_call *c, uint64_t response, uint32_t ev)
{
	struct fk_event *e = fk_eventp(ev);
	size_t n = c->out_len < e->resp_len ? c->out_len : e->resp_len;
	int r = fk_respond(c, response, e->resp, n);

	if (r)
		return r;
	unlink_event(fk_chanp(c->chan), 0, ev);
	if (e->child) {
		fk_idp(e->child)->child_pending = 0;
		fk_id_link(e->child, c->chan);
		if (e->id) {
			fk_idp(e->id)->backlog++;
			fk_listener_room(e->id);
		}
	}
	if (e->id)
		fk_idp(e->id)->reported++;
	if (e->mc)
		fk_mcp(e->mc)->reported++;
	FK_GIVE(fk_k->event, ev);
	return 0;
}

/*
 * The fd is a counting eventfd with one unit an event: the plain read below
 * sleeps, is interrupted and honours O_NONBLOCK just as the real node does.
 */
int fk_get_event(struct fk_call *c)
{
	struct rdma_ucm_get_event cmd;
	uint64_t unit;
	uint32_t ev;
	int r;

	if (c->out_len < offsetof(struct rdma_ucm_event_resp, reserved))
		return -ENOSPC;
	fk_request(c, &cmd, sizeof(cmd));
	for (;;) {
		if (REAL(read)(c->fd, &unit, sizeof(unit)) < 0)
			return -errno;
		fk_lock();
		ev = fk_fd_kind(c->fd, NULL) == FK_FD_CHAN ? fk_chanp(c->chan)->head : 0;
		r = ev ? hand_out(c, cmd.response, ev) : 0;
		if (ev && r)
			wake(c->chan);
		fk_unlock();
		if (ev || r)
			return r;
	}
}

int fk_cmd_get_event(struct fk_call *c)
{
	return fk_get_event(c);
}

/* Only the two kinds that user space may write; a uid of 0 does not matter here. */
int fk_cmd_write_event(struct fk_call *c)
{
	struct { uint32_t id, reserved, event, status; uint64_t arg; } cmd;
	uint32_t id, ev;
	int err = 0;

	fk_request(c, &cmd, sizeof(cmd));
	if (cmd.event != FK_EV_USER && cmd.event != FK_EV_INTERNAL)
		return -EINVAL;
	id = fk_find(c, cmd.id, &err);
	if (!id)
		return err;
	ev = fk_event_new(id, cmd.event, (int)cmd.status);
	if (!ev)
		return -ENOMEM;
	memcpy(&fk_event_resp(ev)->param, &cmd.arg, sizeof(cmd.arg));
	fk_event_post(fk_idp(id)->chan, ev);
	return 0;
}
