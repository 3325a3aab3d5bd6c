/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Datagrams: to one queue pair or to all that are attached to a group. */
#include "copy.h"

#include <string.h>

static void fill_grh(uint8_t *g, const struct fk_wqe *w, const struct fk_dev *d, uint64_t len)
{
	memset(g, 0, FK_GRH);
	g[0] = 0x60;
	g[4] = (uint8_t)(len >> 8);
	g[5] = (uint8_t)len;
	g[6] = 0x1b;
	g[7] = w->hop;
	memcpy(g + 8, d->port[0].gid[d->port[0].ngids > 1 ? 1 : 0], 16);
	memcpy(g + 24, w->dgid, 16);
}

static void datagram_to(uint32_t qp, uint32_t peer, const struct fk_wqe *w, const struct fk_seg *src, int n)
{
	struct fk_vqp *k = fk_qpp(qp), *p = fk_qpp(peer);
	const struct fk_dev *d = fk_devp(k->dev);
	uint8_t grh[FK_GRH];
	struct fk_seg dst[FK_MAX_SGE], head = { (uintptr_t)grh, FK_GRH, fk_pid() };
	uint64_t len = fk_seg_sum(src, n);
	struct fk_cqe e = {
		.opcode = IBV_WC_RECV, .src_qp = k->qpn, .byte_len = (uint32_t)(len + FK_GRH),
		.slid = d->port[0].lid, .flags = w->global ? IBV_WC_GRH : 0,
	};
	struct fk_wqe *r;
	struct fk_target t;
	int m;

	if (p->type != IBV_QPT_UD || p->state < IBV_QPS_RTR || p->state > IBV_QPS_SQE ||
	    p->attr.qkey != w->dest_qkey || !fk_find_target(peer, w, &t))
		return;
	r = fk_ring_first(t.ring);
	m = r ? fk_local_segs(r, t.pd, IBV_ACCESS_LOCAL_WRITE, dst) : -1;
	if (m < 0)
		return;
	e.wr_id = r->wr_id;
	if (len + FK_GRH > fk_seg_sum(dst, m)) {
		e.status = IBV_WC_LOC_LEN_ERR;
		fk_recv_done(peer, &t, &e, true);
		return;
	}
	if (w->global) {
		fill_grh(grh, w, d, len);
		fk_move(dst, m, &head, 1, 0);
	}
	fk_move(dst, m, src, n, FK_GRH);
	if (w->opcode == IBV_WR_SEND_WITH_IMM) {
		e.flags |= IBV_WC_WITH_IMM;
		e.imm = w->imm;
	}
	fk_recv_done(peer, &t, &e, (w->flags & IBV_SEND_SOLICITED) != 0);
}

/* Does the address handle lead to a port of that device? */
static bool leads_to(const struct fk_wqe *w, const struct fk_dev *d)
{
	for (uint32_t p = 0; p < d->nports; p++) {
		if (!w->global && w->dlid == d->port[p].lid)
			return true;
		for (uint32_t g = 0; w->global && g < d->port[p].ngids; g++)
			if (!memcmp(d->port[p].gid[g], w->dgid, 16))
				return true;
	}
	return false;
}

int fk_datagram(uint32_t qp, const struct fk_wqe *w)
{
	struct fk_seg s[FK_MAX_SGE];
	int n = fk_local_segs(w, fk_qpp(qp)->pd, 0, s);
	uint32_t peer = fk_qp_by_num(w->dest_qpn);

	if (n < 0)
		return IBV_WC_LOC_PROT_ERR;
	if (w->group) {
		for (uint32_t i = 1; i <= fk_v->attach.pool.high; i++)
			if (fk_v->attach.at[i].node.live && !memcmp(fk_v->attach.at[i].gid, w->dgid, 16))
				datagram_to(qp, fk_v->attach.at[i].qp, w, s, n);
	} else if (peer && leads_to(w, fk_devp(fk_qpp(peer)->dev))) {
		datagram_to(qp, peer, w, s, n);
	}
	return 0;
}
