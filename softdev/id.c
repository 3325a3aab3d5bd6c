/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The life of an id and of the connection below it. */
#include "real.h"
#include "fake.h"
#include "conn.h"

#include <errno.h>
#include <string.h>

enum { REJ_TIMEOUT = 4, REJ_CONSUMER = 28, SIDR_REJECT = 2, WIRE_REJ = 148 };

bool fk_is_ud(const struct fk_id *id)
{
	return id->qp_type == FK_QPT_UD;
}

bool fk_is_iwarp(const struct fk_id *id)
{
	return id->dev && fk_devp(id->dev)->transport == FK_TRANSPORT_IWARP;
}

/* The other end, unless it has been destroyed since. */
uint32_t fk_peer(const struct fk_id *id)
{
	if (!id->peer || fk_idp(id->peer)->node.gen != id->peer_gen || !fk_idp(id->peer)->node.live)
		return 0;
	return id->peer;
}

uint32_t fk_id_by_handle(uint32_t handle)
{
	uint32_t id = fk_handle_find(&fk_k->id_handle, handle);

	return id;
}

void fk_id_link(uint32_t id, uint32_t chan)
{
	struct fk_id *p = fk_idp(id);

	p->chan = chan;
	p->chan_prev = 0;
	p->chan_next = fk_chanp(chan)->first_id;
	if (p->chan_next)
		fk_idp(p->chan_next)->chan_prev = id;
	fk_chanp(chan)->first_id = id;
}

void fk_id_unlink(uint32_t id)
{
	struct fk_id *p = fk_idp(id);

	if (p->chan_next)
		fk_idp(p->chan_next)->chan_prev = p->chan_prev;
	if (p->chan_prev)
		fk_idp(p->chan_prev)->chan_next = p->chan_next;
	else if (fk_chanp(p->chan)->first_id == id)
		fk_chanp(p->chan)->first_id = p->chan_next;
}

uint32_t fk_id_new(uint32_t chan)
{
	uint32_t id = FK_TAKE(fk_k->id);

	if (!id)
		return 0;
	fk_idp(id)->handle = fk_handle_new(&fk_k->id_handle, id);
	if (fk_idp(id)->handle == UINT32_MAX) {
		FK_GIVE(fk_k->id, id);
		return 0;
	}
	fk_idp(id)->chan = chan;
	fk_idp(id)->pid = fk_pid();
	fk_idp(id)->local.psn = fk_k->next_psn = (fk_k->next_psn + 0x101) & 0xffffff;
	return id;
}

static void peer_rejected(uint32_t id, int reason)
{
	struct fk_id *p = fk_idp(id);
	uint32_t peer = fk_peer(p), ev;

	if (!peer)
		return;
	fk_idp(peer)->cm = FK_CM_IDLE;
	if (!fk_idp(peer)->uid || fk_idp(peer)->child_pending)
		return;
	ev = fk_event_new(peer, FK_EV_REJECTED, fk_is_iwarp(p) ? -ECONNRESET : reason);
	if (ev) {
		fk_event_pdata(ev, "", 0, WIRE_REJ);
		fk_event_post(fk_idp(peer)->chan, ev);
	}
}

/* Tells the peer that this end goes away, as destroying a live id does. */
void fk_cm_drop_peer(uint32_t id)
{
	struct fk_id *p = fk_idp(id);
	uint32_t peer = fk_peer(p);

	switch (p->cm) {
	case FK_CM_ESTABLISHED:
		if (peer && fk_idp(peer)->cm == FK_CM_ESTABLISHED) {
			fk_idp(peer)->cm = FK_CM_DREQ_RCVD;
			fk_idp(peer)->state = FK_DISCONNECT;
			fk_event_simple(peer, FK_EV_DISCONNECTED, 0);
		}
		if (fk_is_iwarp(p))
			fk_verbs_iwarp_connected(p->local.qp_num, 0, false);
		break;
	case FK_CM_DREQ_RCVD:
		if (peer && fk_idp(peer)->cm == FK_CM_DREQ_SENT) {
			fk_idp(peer)->cm = FK_CM_TIMEWAIT;
			fk_idp(peer)->state = FK_DISCONNECT;
			fk_event_simple(peer, FK_EV_DISCONNECTED, 0);
		}
		break;
	case FK_CM_REQ_SENT:
		peer_rejected(id, REJ_TIMEOUT);
		break;
	case FK_CM_REQ_RCVD:
	case FK_CM_REP_SENT:
	case FK_CM_REP_RCVD:
		peer_rejected(id, REJ_CONSUMER);
		break;
	case FK_CM_SIDR_RCVD:
		if (peer && fk_idp(peer)->cm == FK_CM_SIDR_SENT) {
			fk_idp(peer)->cm = FK_CM_IDLE;
			fk_sidr_refused(peer, SIDR_REJECT, "", 0);
		}
		break;
	default:
		break;
	}
	p->cm = FK_CM_IDLE;
}

void fk_id_attach(uint32_t id, uint32_t dev)
{
	struct fk_id *p = fk_idp(id);

	p->dev = dev;
	p->port = 1;
	p->pkey = fk_roce(fk_devp(dev), 1) ? 0xffff : fk_devp(dev)->port[0].pkey[0];
	memcpy(p->sgid, fk_devp(dev)->port[0].gid[0], 16);
}

static void leave_all(uint32_t id)
{
	uint32_t m = fk_idp(id)->mc_first;

	while (m) {
		uint32_t next = fk_mcp(m)->next_in_id;

		fk_handle_free(&fk_k->mc_handle, fk_mcp(m)->handle);
		FK_GIVE(fk_k->mc, m);
		m = next;
	}
	fk_idp(id)->mc_first = 0;
}

uint32_t fk_id_destroy(uint32_t id)
{
	struct fk_id *p = fk_idp(id);
	uint32_t reported;

	fk_cm_drop_peer(id);
	fk_events_purge(id, 0);
	fk_listener_gone(id);
	if (p->waits_for && fk_idp(p->waits_for)->node.gen == p->waits_gen)
		fk_idp(p->waits_for)->waiting--;
	reported = p->reported;
	leave_all(id);
	fk_port_put(id);
	if (!p->child_pending)
		fk_id_unlink(id);
	fk_handle_free(&fk_k->id_handle, p->handle);
	FK_GIVE(fk_k->id, id);
	return reported;
}
