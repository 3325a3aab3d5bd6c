/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory, work requests and completions with an id in hand.
 *
 * The prototypes between "made from" marks are made from the Rust functions by `cargo run -p headers`;
 * change their comments there. rdma_verbs_inline.h has the same functions as inline code.
 */
#ifndef RDMA_VERBS_H
#define RDMA_VERBS_H

#include <assert.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes an error number that a call returned into -1 with errno, and lets 0 through. A returned -1
 * means that errno is set already; a negative error number loses its sign.
 */
static __inline__ int rdma_seterrno(int ret)
{
	if (!ret)
		return 0;
	if (ret != -1)
		errno = ret < 0 ? -ret : ret;
	return -1;
}

/* made from src/export/srq.rs */

/**
 * Makes the shared receive queue of an identifier.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   pd: a protection domain on this device, or NULL for id->pd.
 *   attr: what to make. Comes back with the granted sizes.
 *
 * Description:
 *   The queue is id->srq. rdma_create_qp uses it, and rdma_post_recv and rdma_post_recvv post to it.
 *   An id of type IBV_QPT_XRC_RECV gets an XRC queue, with the completion queue id->recv_cq, which
 *   the library makes if there is none.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EINVAL: id or attr is NULL, the id has a shared receive queue or no device, or the device
 *       refuses the attributes.
 *   ENOMEM: out of memory, or more than the device has.
 *   EOPNOTSUPP: the device has no such queues.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_create_srq_ex(3), rdma_destroy_srq(3), rdma_create_qp(3), rdma_post_recv(3),
 *   ibv_create_srq(3), rdma_cm(7)
 */
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/**
 * Makes the shared receive queue of an identifier with extended attributes.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   attr: what to make; IBV_SRQ_INIT_ATTR_TYPE must be in comp_mask. Comes back with the granted
 *       sizes and the objects in use.
 *
 * Description:
 *   As rdma_create_srq, with all that ibv_create_srq_ex can do. A protection domain that is not
 *   given is id->pd. For an XRC queue the domain that is not given is one that all ids of the device
 *   share, and the completion queue is id->recv_cq.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EINVAL: id or attr is NULL, the id has a shared receive queue or no device, or the device
 *       refuses the attributes.
 *   ENOMEM: out of memory, or more than the device has.
 *   EOPNOTSUPP: the device has no such queues.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_create_srq(3), rdma_destroy_srq(3), ibv_create_srq_ex(3), rdma_cm(7)
 */
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);

/**
 * Destroys the shared receive queue of an identifier.
 *
 * Arguments:
 *   id: the id; NULL, or one without a shared receive queue, does nothing.
 *
 * Description:
 *   Destroys id->srq, and a completion queue that the library made for it unless a queue pair still
 *   uses it.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   After rdma_destroy_qp of every queue pair that uses the queue, and before rdma_destroy_id. A
 *   queue that is still in use is not destroyed: id->srq keeps it, and the call can be made again.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads.
 *
 * See also:
 *   rdma_create_srq(3), rdma_destroy_qp(3), ibv_destroy_srq(3), rdma_cm(7)
 */
void rdma_destroy_srq(struct rdma_cm_id *id);

/* end of src/export/srq.rs */

/* made from src/export/verbs.rs */

/**
 * Registers memory for sends and receives.
 *
 * Arguments:
 *   id: an id with a protection domain: bound to a device, or with id->pd set.
 *   addr: the memory, which must stay until rdma_dereg_mr.
 *   length: its size in bytes.
 *
 * Description:
 *   Makes a memory region in id->pd. Local access only, for rdma_post_recv, rdma_post_send and the
 *   local side of reads and writes.
 *
 * Return value:
 *   The region, which belongs to the caller until rdma_dereg_mr, or NULL with errno.
 *
 * Errors:
 *   EFAULT: the memory is not the caller's.
 *   EINVAL: id is NULL or has no protection domain, or the device refuses the memory.
 *   ENOMEM: out of memory, or more than the device has or the process may lock (RLIMIT_MEMLOCK).
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread, as long as none ends or rebinds the id.
 *
 * See also:
 *   rdma_reg_read(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
 */
struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *id, void *addr, size_t length);

/**
 * Registers memory for the peer's RDMA reads.
 *
 * Arguments:
 *   id: an id with a protection domain: bound to a device, or with id->pd set.
 *   addr: the memory, which must stay until rdma_dereg_mr.
 *   length: its size in bytes.
 *
 * Description:
 *   Makes a memory region in id->pd. The peer may read it; it can also be used for sends and
 *   receives of this side. The peer needs the address and rkey of the region.
 *
 * Return value:
 *   The region, which belongs to the caller until rdma_dereg_mr, or NULL with errno.
 *
 * Errors:
 *   EFAULT: the memory is not the caller's.
 *   EINVAL: id is NULL or has no protection domain, or the device refuses the memory.
 *   ENOMEM: out of memory, or more than the device has or the process may lock (RLIMIT_MEMLOCK).
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread, as long as none ends or rebinds the id.
 *
 * See also:
 *   rdma_reg_msgs(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
 */
struct ibv_mr *rdma_reg_read(struct rdma_cm_id *id, void *addr, size_t length);

/**
 * Registers memory for the peer's RDMA writes.
 *
 * Arguments:
 *   id: an id with a protection domain: bound to a device, or with id->pd set.
 *   addr: the memory, which must stay until rdma_dereg_mr.
 *   length: its size in bytes.
 *
 * Description:
 *   Makes a memory region in id->pd. The peer may write it; it can also be used for sends and
 *   receives of this side. The peer needs the address and rkey of the region.
 *
 * Return value:
 *   The region, which belongs to the caller until rdma_dereg_mr, or NULL with errno.
 *
 * Errors:
 *   EFAULT: the memory is not the caller's.
 *   EINVAL: id is NULL or has no protection domain, or the device refuses the memory.
 *   ENOMEM: out of memory, or more than the device has or the process may lock (RLIMIT_MEMLOCK).
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread, as long as none ends or rebinds the id.
 *
 * See also:
 *   rdma_reg_msgs(3), rdma_reg_read(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
 */
struct ibv_mr *rdma_reg_write(struct rdma_cm_id *id, void *addr, size_t length);

/**
 * Ends the registration of memory.
 *
 * Arguments:
 *   mr: a region of rdma_reg_msgs, rdma_reg_read, rdma_reg_write or ibv_reg_mr; on success not
 *       to be used afterwards.
 *
 * Description:
 *   The device forgets the memory. Nothing that is posted may still use it.
 *
 * Return value:
 *   0, or -1 with errno.
 *
 * Errors:
 *   EBUSY: a memory window is bound to the region.
 *   EINVAL: mr is NULL.
 *   Other values are the kernel's or the device's.
 *
 * Thread safety:
 *   Any thread, as long as no other one uses the region.
 *
 * See also:
 *   rdma_reg_msgs(3), rdma_reg_read(3), rdma_reg_write(3), ibv_dereg_mr(3), rdma_cm(7)
 */
int rdma_dereg_mr(struct ibv_mr *mr);

/**
 * Posts a receive into a list of buffers.
 *
 * Arguments:
 *   id: an id with a queue pair; with a shared receive queue the receive goes there.
 *   context: any pointer, comes back as wr_id of the completion.
 *   sgl: the buffers, by address, length and local key. The list itself is only read during the
 *       call.
 *   nsge: how many there are; 0 is allowed.
 *
 * Description:
 *   Returns at once. The next message of the peer that finds no earlier receive goes there. Its
 *   completion is on id->recv_cq.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, nsge is negative, sgl is NULL, or the device
 *       refuses the request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_recv(3), rdma_reg_msgs(3), rdma_get_recv_comp(3), ibv_post_recv(3), rdma_cm(7)
 */
int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge);

/**
 * Posts a send from a list of buffers.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: any pointer, comes back as wr_id of the completion.
 *   sgl: the buffers, by address, length and local key. The list itself is only read during the
 *       call.
 *   nsge: how many there are; 0 is allowed.
 *   flags: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
 *       IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
 *
 * Description:
 *   Returns at once. The peer needs a receive posted that is large enough. The completion is on
 *   id->send_cq.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, nsge is negative, sgl is NULL, or the device
 *       refuses the request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_send(3), rdma_reg_msgs(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags);

/**
 * Posts a read of the peer's memory into a list of buffers.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: any pointer, comes back as wr_id of the completion.
 *   sgl: the buffers, by address, length and local key. The list itself is only read during the
 *       call.
 *   nsge: how many there are; 0 is allowed.
 *   flags: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
 *       IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
 *   remote_addr: where, in the peer's memory.
 *   rkey: the key of the peer's region, made by rdma_reg_read there.
 *
 * Description:
 *   Returns at once. Copies the peer's memory without the peer's program taking part. The completion
 *   is on id->send_cq; before it the buffers have no defined contents.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, nsge is negative, sgl is NULL, or the device
 *       refuses the request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_read(3), rdma_reg_read(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
int rdma_post_readv(struct rdma_cm_id *id,
                    void *context,
                    struct ibv_sge *sgl,
                    int nsge,
                    int flags,
                    uint64_t remote_addr,
                    uint32_t rkey);

/**
 * Posts a write to the peer's memory from a list of buffers.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: any pointer, comes back as wr_id of the completion.
 *   sgl: the buffers, by address, length and local key. The list itself is only read during the
 *       call.
 *   nsge: how many there are; 0 is allowed.
 *   flags: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
 *       IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
 *   remote_addr: where, in the peer's memory.
 *   rkey: the key of the peer's region, made by rdma_reg_write there.
 *
 * Description:
 *   Returns at once. Copies to the peer's memory without the peer's program taking part, or knowing.
 *   The completion is on id->send_cq.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, nsge is negative, sgl is NULL, or the device
 *       refuses the request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_write(3), rdma_reg_write(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
int rdma_post_writev(struct rdma_cm_id *id,
                     void *context,
                     struct ibv_sge *sgl,
                     int nsge,
                     int flags,
                     uint64_t remote_addr,
                     uint32_t rkey);

/**
 * Posts a receive into one buffer.
 *
 * Arguments:
 *   id: an id with a queue pair; with a shared receive queue the receive goes there.
 *   context: any pointer, comes back as wr_id of the completion.
 *   addr: the buffer, which must stay untouched until the completion.
 *   length: its size in bytes, less than 4 GiB.
 *   mr: the region that has the buffer.
 *
 * Description:
 *   Returns at once. The next message of the peer that finds no earlier receive goes there. Its
 *   completion is on id->recv_cq.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, length is too large, mr is NULL or the buffer is
 *       not inside it, or the device refuses the request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments, but
 *   for an assertion that the buffer is inside the region.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_recvv(3), rdma_reg_msgs(3), rdma_get_recv_comp(3), ibv_post_recv(3), rdma_cm(7)
 */
int rdma_post_recv(struct rdma_cm_id *id,
                   void *context,
                   void *addr,
                   size_t length,
                   struct ibv_mr *mr);

/**
 * Posts a send from one buffer.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: any pointer, comes back as wr_id of the completion.
 *   addr: the buffer, which must stay untouched until the completion; with IBV_SEND_INLINE only
 *       until the call returns.
 *   length: its size in bytes, less than 4 GiB.
 *   mr: the region that has the buffer; NULL with IBV_SEND_INLINE.
 *   flags: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
 *       IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
 *
 * Description:
 *   Returns at once. The peer needs a receive posted that is large enough. The completion is on
 *   id->send_cq.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, length is too large, or the device refuses the
 *       request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_sendv(3), rdma_reg_msgs(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
int rdma_post_send(struct rdma_cm_id *id,
                   void *context,
                   void *addr,
                   size_t length,
                   struct ibv_mr *mr,
                   int flags);

/**
 * Posts a read of the peer's memory into one buffer.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: any pointer, comes back as wr_id of the completion.
 *   addr: the buffer, which must stay untouched until the completion.
 *   length: its size in bytes, less than 4 GiB.
 *   mr: the region that has the buffer.
 *   flags: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
 *       IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
 *   remote_addr: where, in the peer's memory.
 *   rkey: the key of the peer's region, made by rdma_reg_read there.
 *
 * Description:
 *   Returns at once. Copies the peer's memory without the peer's program taking part. The completion
 *   is on id->send_cq; before it the buffers have no defined contents.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, length is too large, mr is NULL, or the device
 *       refuses the request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_readv(3), rdma_reg_read(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
int rdma_post_read(struct rdma_cm_id *id,
                   void *context,
                   void *addr,
                   size_t length,
                   struct ibv_mr *mr,
                   int flags,
                   uint64_t remote_addr,
                   uint32_t rkey);

/**
 * Posts a write to the peer's memory from one buffer.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: any pointer, comes back as wr_id of the completion.
 *   addr: the buffer, which must stay untouched until the completion; with IBV_SEND_INLINE only
 *       until the call returns.
 *   length: its size in bytes, less than 4 GiB.
 *   mr: the region that has the buffer; NULL with IBV_SEND_INLINE.
 *   flags: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
 *       IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
 *   remote_addr: where, in the peer's memory.
 *   rkey: the key of the peer's region, made by rdma_reg_write there.
 *
 * Description:
 *   Returns at once. Copies to the peer's memory without the peer's program taking part, or knowing.
 *   The completion is on id->send_cq.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, length is too large, or the device refuses the
 *       request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_writev(3), rdma_reg_write(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
int rdma_post_write(struct rdma_cm_id *id,
                    void *context,
                    void *addr,
                    size_t length,
                    struct ibv_mr *mr,
                    int flags,
                    uint64_t remote_addr,
                    uint32_t rkey);

/**
 * Posts a datagram to a peer.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: any pointer, comes back as wr_id of the completion.
 *   addr: the buffer, which must stay untouched until the completion; with IBV_SEND_INLINE only
 *       until the call returns.
 *   length: its size in bytes, less than 4 GiB.
 *   mr: the region that has the buffer; NULL with IBV_SEND_INLINE.
 *   flags: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
 *       IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
 *   ah: an address handle of the peer or group.
 *   remote_qpn: the peer's queue pair number; 0xFFFFFF for a group.
 *
 * Description:
 *   Returns at once. The peer needs a receive posted with room for 40 bytes more, the global routing
 *   header. The Q_Key is RDMA_UDP_QKEY. The completion is on id->send_cq.
 *
 * Return value:
 *   0, or -1 with errno. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL: id is NULL or has no queue pair, length is too large, ah is NULL, or the device
 *       refuses the request.
 *   ENOMEM: the queue is full.
 *   EOPNOTSUPP: the device cannot do this.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   Any thread, as long as none destroys the queue pair. Which of two threads posts first is up to
 *   them.
 *
 * See also:
 *   rdma_post_send(3), rdma_join_multicast(3), rdma_get_send_comp(3), ibv_create_ah(3),
 *   ibv_post_send(3), rdma_cm(7)
 */
int rdma_post_ud_send(struct rdma_cm_id *id,
                      void *context,
                      void *addr,
                      size_t length,
                      struct ibv_mr *mr,
                      int flags,
                      struct ibv_ah *ah,
                      uint32_t remote_qpn);

/**
 * Waits for the completion of a send, read or write.
 *
 * Arguments:
 *   id: an id with a completion queue of its own, made by rdma_create_qp.
 *   wc: where the completion is returned.
 *
 * Description:
 *   Takes the next completion from id->send_cq. If there is none, sleeps on id->send_cq_channel
 *   until there is. status of the completion says whether the work succeeded; wr_id is the context
 *   of the post.
 *
 * Return value:
 *   1 for one completion, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is none, and the channel's file has O_NONBLOCK.
 *   EINTR: a signal came.
 *   EINVAL: id or wc is NULL, or the id has no completion queue, or none with a channel to sleep
 *       on.
 *   EIO: the device failed without a reason.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   A completion queue of the program's own without channel can be polled with ibv_poll_cq only.
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads. With a queue that
 *   several ids share, a thread can take another id's completion.
 *
 * See also:
 *   rdma_get_recv_comp(3), rdma_post_send(3), rdma_create_qp(3), ibv_poll_cq(3), rdma_cm(7)
 */
int rdma_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc);

/**
 * Waits for the completion of a receive.
 *
 * Arguments:
 *   id: an id with a completion queue of its own, made by rdma_create_qp.
 *   wc: where the completion is returned.
 *
 * Description:
 *   Takes the next completion from id->recv_cq. If there is none, sleeps on id->recv_cq_channel
 *   until there is. status of the completion says whether the work succeeded; wr_id is the context
 *   of the post.
 *
 * Return value:
 *   1 for one completion, or -1 with errno.
 *
 * Errors:
 *   EAGAIN: there is none, and the channel's file has O_NONBLOCK.
 *   EINTR: a signal came.
 *   EINVAL: id or wc is NULL, or the id has no completion queue, or none with a channel to sleep
 *       on.
 *   EIO: the device failed without a reason.
 *   Other values are the kernel's or the device's.
 *
 * Notes:
 *   A completion queue of the program's own without channel can be polled with ibv_poll_cq only.
 *   Optimised C and C++ programs get this as inline code, which does not check its arguments.
 *
 * Thread safety:
 *   One thread at a time per id; any number of ids in any number of threads. With a queue that
 *   several ids share, a thread can take another id's completion.
 *
 * See also:
 *   rdma_get_send_comp(3), rdma_post_recv(3), rdma_create_qp(3), ibv_poll_cq(3), rdma_cm(7)
 */
int rdma_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc);

/* end of src/export/verbs.rs */

#ifdef __cplusplus
}
#endif

#ifdef RDMACM_INLINE
#include <rdma/rdma_verbs_inline.h>
#endif

#endif
