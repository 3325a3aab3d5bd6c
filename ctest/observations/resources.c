// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The device's own words, and the objects that are made on it. */
#include "observations.h"

#include <sys/mman.h>

static struct ibv_context *context;

static struct rdma_cm_id *on_device(struct rdma_event_channel **made)
{
	*made = channel();
	return bound(*made, RDMA_PS_TCP, "10.77.0.1");
}

void observe_device(void)
{
	struct rdma_event_channel *own;
	struct rdma_cm_id *id = on_device(&own);
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint16_t pkey;

	context = id->verbs;
	MUST(ibv_query_device(context, &attr));
	MUST(ibv_query_port(context, 1, &port));
	observe("device: node type", "%s", ibv_node_type_str(context->device->node_type));
	observe("device: transport", "%d", context->device->transport_type);
	observe("device: ports", "%d", attr.phys_port_cnt);
	observe("device: atomics", "%d", attr.atomic_cap);
	observe("device: memory windows", "%d", !!(attr.device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)));
	observe("device: shared receive queues", "%d", attr.max_srq > 0);
	observe("device: SRQ resize", "%d", !!(attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE));
	observe("device: XRC", "%d", !!(attr.device_cap_flags & IBV_DEVICE_XRC));
	observe("device: bad key counters", "%d", !!(attr.device_cap_flags & IBV_DEVICE_BAD_PKEY_CNTR));
	observe("device: RNR NAK", "%d", !!(attr.device_cap_flags & IBV_DEVICE_RC_RNR_NAK_GEN));
	observe("device: responder depth", "%d", attr.max_qp_rd_atom);
	observe("device: initiator depth", "%d", attr.max_qp_init_rd_atom);
	observe("device: scatter entries", "%d", attr.max_sge);
	observe("device: partition keys", "%d", attr.max_pkeys);
	observe("port: state", "%s", ibv_port_state_str(port.state));
	observe("port: link layer", "%d", port.link_layer);
	observe("port: largest MTU", "%d", port.max_mtu);
	observe("port: MTU in use", "%d", port.active_mtu);
	observe("port: LID", "%d", port.lid);
	observe("port: partition keys", "%d", port.pkey_tbl_len);
	observe("port: longest message", "%u", port.max_msg_sz);
	observe("port: physical state", "%d", port.phys_state);
	CODED("port 2: query", ibv_query_port(context, 2, &port));
	CODED("port 0: query", ibv_query_port(context, 0, &port));
	CODED("partition key 0", ibv_query_pkey(context, 1, 0, &pkey));
	observe("partition key 0: value", "%x", ntohs(pkey));
	observe("partition key 9999", "%s", ibv_query_pkey(context, 1, 9999, &pkey) ? "refused" : "0");
	observe("GID 0", "%s", ibv_query_gid(context, 1, 0, &gid) ? "refused" : "0");
	observe("GID 9999", "%s", ibv_query_gid(context, 1, 9999, &gid) ? "refused" : "0");
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(own);
}

static void memory(struct ibv_pd *pd)
{
	char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes[64];
	struct ibv_mr *mr;

	mr = MADE("memory: local read", ibv_reg_mr(pd, bytes, sizeof bytes, 0));
	observe("memory: keys", "%s", mr->lkey ? "not zero" : "zero");
	CODED("memory: dereg", ibv_dereg_mr(mr));
	mr = MADE("memory: remote write without local write", ibv_reg_mr(pd, bytes, sizeof bytes, IBV_ACCESS_REMOTE_WRITE));
	if (mr)
		ibv_dereg_mr(mr);
	mr = MADE("memory: remote atomic without local write", ibv_reg_mr(pd, bytes, sizeof bytes, IBV_ACCESS_REMOTE_ATOMIC));
	if (mr)
		ibv_dereg_mr(mr);
	mr = MADE("memory: nothing mapped", ibv_reg_mr(pd, (void *)4096, 64, IBV_ACCESS_LOCAL_WRITE));
	if (mr)
		ibv_dereg_mr(mr);
	mr = MADE("memory: a page that is read-only, to read", ibv_reg_mr(pd, page, 64, 0));
	if (mr)
		ibv_dereg_mr(mr);
	mr = MADE("memory: a page that is read-only, to write", ibv_reg_mr(pd, page, 64, IBV_ACCESS_LOCAL_WRITE));
	if (mr)
		ibv_dereg_mr(mr);
	munmap(page + 4096, 4096);
	mr = MADE("memory: its second half is not mapped", ibv_reg_mr(pd, page, 8192, 0));
	if (mr)
		ibv_dereg_mr(mr);
	mr = MADE("memory: of no bytes", ibv_reg_mr(pd, bytes, 0, IBV_ACCESS_LOCAL_WRITE));
	if (mr)
		ibv_dereg_mr(mr);
	munmap(page, 4096);
}

static void queue_pairs(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = *qp_attr();
	struct ibv_qp *qp;

	attr.send_cq = attr.recv_cq = cq;
	qp = MADE("queue pair: RC", ibv_create_qp(pd, &attr));
	observe("queue pair: sends as asked or more", "%d", attr.cap.max_send_wr >= 4);
	observe("queue pair: receives as asked or more", "%d", attr.cap.max_recv_wr >= 4);
	observe("queue pair: inline as asked or more", "%d", attr.cap.max_inline_data >= 16);
	CODED("domain in use: dealloc", ibv_dealloc_pd(pd));
	CODED("completion queue in use: destroy", ibv_destroy_cq(cq));
	CODED("queue pair: destroy", ibv_destroy_qp(qp));
	attr = *qp_attr();
	attr.send_cq = attr.recv_cq = cq;
	attr.qp_type = IBV_QPT_UD;
	qp = MADE("queue pair: UD", ibv_create_qp(pd, &attr));
	ibv_destroy_qp(qp);
	attr = *qp_attr();
	attr.send_cq = attr.recv_cq = cq;
	attr.qp_type = IBV_QPT_UC;
	qp = MADE("queue pair: UC", ibv_create_qp(pd, &attr));
	if (qp)
		ibv_destroy_qp(qp);
	attr = *qp_attr();
	attr.send_cq = attr.recv_cq = cq;
	attr.cap.max_send_sge = 1000;
	observe("queue pair: 1000 scatter entries", "%s", (qp = ibv_create_qp(pd, &attr)) ? "made" : "refused");
	if (qp)
		ibv_destroy_qp(qp);
	attr = *qp_attr();
	attr.send_cq = attr.recv_cq = cq;
	attr.cap.max_send_wr = 1 << 24;
	observe("queue pair: 16 million sends", "%s", (qp = ibv_create_qp(pd, &attr)) ? "made" : "refused");
	if (qp)
		ibv_destroy_qp(qp);
}

static void completion_queues(void)
{
	struct ibv_comp_channel *events = ibv_create_comp_channel(context);
	struct ibv_cq *cq, *of;
	void *own;

	cq = MADE("completion queue: of 1", ibv_create_cq(context, 1, NULL, NULL, 0));
	observe("completion queue: as asked or more", "%d", cq->cqe >= 1);
	CODED("completion queue: resize to 100", ibv_resize_cq(cq, 100));
	observe("completion queue: after it", "%d", cq->cqe >= 100);
	CODED("completion queue: destroy", ibv_destroy_cq(cq));
	observe("completion queue: of none", "%s", (cq = ibv_create_cq(context, 0, NULL, NULL, 0)) ? "made" : errno_name(errno));
	if (cq)
		ibv_destroy_cq(cq);
	observe("completion queue: of 100 million", "%s", (cq = ibv_create_cq(context, 100000000, NULL, NULL, 0)) ? "made" : "refused");
	if (cq)
		ibv_destroy_cq(cq);
	cq = ibv_create_cq(context, 4, NULL, events, 0);
	CODED("completion channel: in use, destroy", ibv_destroy_comp_channel(events));
	CODED("completion queue: armed", ibv_req_notify_cq(cq, 0));
	MUST(fcntl(events->fd, F_SETFL, O_NONBLOCK));
	CALLED("completion channel: no event", ibv_get_cq_event(events, &of, &own));
	ibv_destroy_cq(cq);
	CODED("completion channel: destroy", ibv_destroy_comp_channel(events));
}

static void windows(struct ibv_pd *pd)
{
	struct ibv_mw *window = MADE("memory window: type 1", ibv_alloc_mw(pd, IBV_MW_TYPE_1));

	if (window)
		CODED("memory window: dealloc", ibv_dealloc_mw(window));
	window = MADE("memory window: type 2", ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	if (window)
		ibv_dealloc_mw(window);
}

void observe_resources(void)
{
	struct rdma_event_channel *own;
	struct rdma_cm_id *id = on_device(&own);
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;

	context = id->verbs;
	pd = MADE("domain", ibv_alloc_pd(context));
	cq = ibv_create_cq(context, 10, NULL, NULL, 0);
	memory(pd);
	queue_pairs(pd, cq);
	completion_queues();
	windows(pd);
	srq = MADE("shared receive queue", ibv_create_srq(pd, &shared));
	CODED("shared receive queue: query", ibv_query_srq(srq, &shared.attr));
	observe("shared receive queue: limit", "%d", shared.attr.srq_limit);
	CODED("domain with it: dealloc", ibv_dealloc_pd(pd));
	CODED("shared receive queue: destroy", ibv_destroy_srq(srq));
	ibv_destroy_cq(cq);
	CODED("domain: dealloc", ibv_dealloc_pd(pd));
	MUST(rdma_destroy_id(id));
	rdma_destroy_event_channel(own);
}
