/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Definitions of the helpers of rdma_verbs.h, unless RDMACM_EXPORTED_HELPERS is defined. Included by
 * rdma_verbs.h only.
 *
 * Each does what the exported function does, without checking its arguments: invalid arguments are
 * undefined behaviour, or an assertion failure unless NDEBUG is set.
 */
#ifndef RDMACM_INLINE_HELPERS
#error "include <rdma/rdma_verbs.h>"
#endif

#ifndef RDMA_VERBS_INLINE_H
#define RDMA_VERBS_INLINE_H

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
extern "C" {
#endif

RDMACM_HELPER struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, (int)IBV_ACCESS_LOCAL_WRITE);
}

RDMACM_HELPER struct ibv_mr *rdma_reg_read(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, (int)IBV_ACCESS_LOCAL_WRITE | (int)IBV_ACCESS_REMOTE_READ);
}

RDMACM_HELPER struct ibv_mr *rdma_reg_write(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, (int)IBV_ACCESS_LOCAL_WRITE | (int)IBV_ACCESS_REMOTE_WRITE);
}

RDMACM_HELPER int rdma_dereg_mr(struct ibv_mr *mr)
{
	return rdma_seterrno(ibv_dereg_mr(mr));
}

RDMACM_HELPER int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge)
{
	struct ibv_recv_wr request, *bad;

	request.wr_id = (uintptr_t)context;
	request.next = NULL;
	request.sg_list = sgl;
	request.num_sge = nsge;
	if (__builtin_expect(!id->srq, 1))
		return rdma_seterrno(ibv_post_recv(id->qp, &request, &bad));
	return rdma_seterrno(ibv_post_srq_recv(id->srq, &request, &bad));
}

RDMACM_HELPER int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge,
				  int flags)
{
	struct ibv_send_wr request, *bad;

	request.wr_id = (uintptr_t)context;
	request.next = NULL;
	request.sg_list = sgl;
	request.num_sge = nsge;
	request.opcode = IBV_WR_SEND;
	request.send_flags = (unsigned int)flags;
	return rdma_seterrno(ibv_post_send(id->qp, &request, &bad));
}

RDMACM_HELPER int rdma_post_readv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge,
				  int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr request, *bad;

	request.wr_id = (uintptr_t)context;
	request.next = NULL;
	request.sg_list = sgl;
	request.num_sge = nsge;
	request.opcode = IBV_WR_RDMA_READ;
	request.send_flags = (unsigned int)flags;
	request.wr.rdma.remote_addr = remote_addr;
	request.wr.rdma.rkey = rkey;
	return rdma_seterrno(ibv_post_send(id->qp, &request, &bad));
}

RDMACM_HELPER int rdma_post_writev(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge,
				   int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr request, *bad;

	request.wr_id = (uintptr_t)context;
	request.next = NULL;
	request.sg_list = sgl;
	request.num_sge = nsge;
	request.opcode = IBV_WR_RDMA_WRITE;
	request.send_flags = (unsigned int)flags;
	request.wr.rdma.remote_addr = remote_addr;
	request.wr.rdma.rkey = rkey;
	return rdma_seterrno(ibv_post_send(id->qp, &request, &bad));
}

/* The list of one buffer. */
static __inline__ struct ibv_sge rdmacm_entry(const void *addr, size_t length, uint32_t lkey)
{
	struct ibv_sge entry;

	entry.addr = (uintptr_t)addr;
	entry.length = (uint32_t)length;
	entry.lkey = lkey;
	return entry;
}

RDMACM_HELPER int rdma_post_recv(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr)
{
	struct ibv_sge entry = rdmacm_entry(addr, length, mr->lkey);

	assert((uintptr_t)addr >= (uintptr_t)mr->addr &&
	       (uintptr_t)addr + length <= (uintptr_t)mr->addr + mr->length);
	return rdma_post_recvv(id, context, &entry, 1);
}

/* Inline data needs no memory region. */
RDMACM_HELPER int rdma_post_send(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr, int flags)
{
	struct ibv_sge entry = rdmacm_entry(addr, length, mr ? mr->lkey : 0);

	return rdma_post_sendv(id, context, &entry, 1, flags);
}

RDMACM_HELPER int rdma_post_read(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge entry = rdmacm_entry(addr, length, mr->lkey);

	return rdma_post_readv(id, context, &entry, 1, flags, remote_addr, rkey);
}

RDMACM_HELPER int rdma_post_write(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				  struct ibv_mr *mr, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge entry = rdmacm_entry(addr, length, mr ? mr->lkey : 0);

	return rdma_post_writev(id, context, &entry, 1, flags, remote_addr, rkey);
}

RDMACM_HELPER int rdma_post_ud_send(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				    struct ibv_mr *mr, int flags, struct ibv_ah *ah, uint32_t remote_qpn)
{
	struct ibv_sge entry = rdmacm_entry(addr, length, mr ? mr->lkey : 0);
	struct ibv_send_wr request, *bad;

	request.wr_id = (uintptr_t)context;
	request.next = NULL;
	request.sg_list = &entry;
	request.num_sge = 1;
	request.opcode = IBV_WR_SEND;
	request.send_flags = (unsigned int)flags;
	request.wr.ud.ah = ah;
	request.wr.ud.remote_qpn = remote_qpn;
	request.wr.ud.remote_qkey = RDMA_UDP_QKEY;
	return rdma_seterrno(ibv_post_send(id->qp, &request, &bad));
}

/* Returns the count, or -1 with errno set. A provider that returns -1 gives no reason: EIO. */
static __inline__ int rdmacm_polled(int ret)
{
	return ret >= 0 ? ret : rdma_seterrno(ret == -1 ? EIO : ret);
}

/*
 * Polls, requests a notification, polls again, then sleeps, so that no completion is missed. The queue is
 * read from the id each time, which is cheaper than keeping it across the calls.
 */
#define RDMACM_COMPLETION(id, queue, channel, wc)                              \
	do {                                                                   \
		struct ibv_cq *woken;                                          \
		void *context;                                                 \
		int ret;                                                       \
                                                                               \
		for (;;) {                                                     \
			ret = ibv_poll_cq((id)->queue, 1, wc);                 \
			if (ret)                                               \
				return rdmacm_polled(ret);              \
			ret = ibv_req_notify_cq((id)->queue, 0);               \
			if (ret)                                               \
				return rdma_seterrno(ret);                     \
			ret = ibv_poll_cq((id)->queue, 1, wc);                 \
			if (ret)                                               \
				return rdmacm_polled(ret);              \
			if (ibv_get_cq_event((id)->channel, &woken, &context)) \
				return -1;                                     \
			ibv_ack_cq_events(woken, 1);                           \
		}                                                              \
	} while (0)

RDMACM_HELPER int rdma_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	RDMACM_COMPLETION(id, send_cq, send_cq_channel, wc);
}

RDMACM_HELPER int rdma_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	RDMACM_COMPLETION(id, recv_cq, recv_cq_channel, wc);
}

#undef RDMACM_COMPLETION

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
