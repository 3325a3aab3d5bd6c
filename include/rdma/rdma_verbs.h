/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Helpers for the queue pair of an id: memory regions, work requests, completions.
 *
 * `make headers` generates the prototypes between "made from" marks from the Rust functions; change their
 * comments there. rdma_verbs_inline.h defines the helpers inline.
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
 * Converts a returned error number, positive or negative, to -1 with errno set. 0 is returned as 0; -1
 * means that errno is set already.
 */
static __inline__ int rdma_seterrno(int ret)
{
	if (!ret)
		return 0;
	if (ret != -1)
		errno = ret < 0 ? -ret : ret;
	return -1;
}

/* made from src/export/verbs/memory.rs */

/**
 * Registers memory for sends and receives.
 *
 * Arguments:
 *   id: an id with a protection domain: one that is bound to a device, or whose pd is set.
 *   addr: start of the memory, which must stay mapped until rdma_dereg_mr.
 *   length: size of the memory in bytes.
 *
 * Description:
 *   Registers a memory region in id->pd, with local access only: for rdma_post_recv, rdma_post_send
 *   and the local buffers of reads and writes.
 *
 * Return value:
 *   The memory region, owned by the caller until rdma_dereg_mr; NULL with errno set on failure.
 *
 * Errors:
 *   EFAULT, EINVAL, ENOMEM; see rdma_reg_msgs(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the id or binds it to another device.
 *
 * See also:
 *   rdma_reg_read(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
 */
RDMACM_HELPER
struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *id, void *addr, size_t length);

/**
 * Registers memory for RDMA reads by the peer.
 *
 * Arguments:
 *   id: an id with a protection domain: one that is bound to a device, or whose pd is set.
 *   addr: start of the memory, which must stay mapped until rdma_dereg_mr.
 *   length: size of the memory in bytes.
 *
 * Description:
 *   Registers a memory region in id->pd. The peer may read the region, given its address and rkey.
 *   The region can also be used for local sends and receives.
 *
 * Return value:
 *   The memory region, owned by the caller until rdma_dereg_mr; NULL with errno set on failure.
 *
 * Errors:
 *   EFAULT, EINVAL, ENOMEM; see rdma_reg_read(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the id or binds it to another device.
 *
 * See also:
 *   rdma_reg_msgs(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
 */
RDMACM_HELPER
struct ibv_mr *rdma_reg_read(struct rdma_cm_id *id, void *addr, size_t length);

/**
 * Registers memory for RDMA writes by the peer.
 *
 * Arguments:
 *   id: an id with a protection domain: one that is bound to a device, or whose pd is set.
 *   addr: start of the memory, which must stay mapped until rdma_dereg_mr.
 *   length: size of the memory in bytes.
 *
 * Description:
 *   Registers a memory region in id->pd. The peer may write the region, given its address and rkey.
 *   The region can also be used for local sends and receives.
 *
 * Return value:
 *   The memory region, owned by the caller until rdma_dereg_mr; NULL with errno set on failure.
 *
 * Errors:
 *   EFAULT, EINVAL, ENOMEM; see rdma_reg_write(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the id or binds it to another device.
 *
 * See also:
 *   rdma_reg_msgs(3), rdma_reg_read(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
 */
RDMACM_HELPER
struct ibv_mr *rdma_reg_write(struct rdma_cm_id *id, void *addr, size_t length);

/**
 * Deregisters a memory region.
 *
 * Arguments:
 *   mr: a region of rdma_reg_msgs, rdma_reg_read, rdma_reg_write or ibv_reg_mr, which becomes
 *       invalid on success.
 *
 * Description:
 *   Ends the device's access to the memory. No outstanding work request may use the region.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EBUSY, EINVAL; see rdma_dereg_mr(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no other thread uses the region.
 *
 * See also:
 *   rdma_reg_msgs(3), rdma_reg_read(3), rdma_reg_write(3), ibv_dereg_mr(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_dereg_mr(struct ibv_mr *mr);

/* end of src/export/verbs/memory.rs */

/* made from src/export/verbs/post.rs */

/**
 * Posts a receive into one buffer.
 *
 * Arguments:
 *   id: an id with a queue pair. If id->srq is set, the receive is posted there.
 *   context: application context, returned as wr_id of the completion.
 *   addr: the buffer, which must not be accessed until the completion.
 *   length: size of the buffer in bytes, less than 4 GiB.
 *   mr: memory region that contains the buffer.
 *
 * Description:
 *   Posts the request and returns immediately. The next message from the peer for which no earlier
 *   receive is posted is placed in the buffers. The completion is added to id->recv_cq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_recv(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header. The inline code only asserts that
 *   the region contains the buffer.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_recvv(3), rdma_reg_msgs(3), rdma_get_recv_comp(3), ibv_post_recv(3), rdma_cm(7)
 */
RDMACM_HELPER
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
 *   context: application context, returned as wr_id of the completion.
 *   addr: the buffer, which must not be modified until the completion; with IBV_SEND_INLINE,
 *       until the call returns.
 *   length: size of the buffer in bytes, less than 4 GiB.
 *   mr: memory region that contains the buffer; may be NULL with IBV_SEND_INLINE.
 *   flags: bitwise OR of enum ibv_send_flags: IBV_SEND_SIGNALED to generate a completion,
 *       IBV_SEND_INLINE, IBV_SEND_FENCE, IBV_SEND_SOLICITED; or 0.
 *
 * Description:
 *   Posts the request and returns immediately. The peer must have posted a receive that is large
 *   enough. The completion is added to id->send_cq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_send(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_sendv(3), rdma_reg_msgs(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_post_send(struct rdma_cm_id *id,
                   void *context,
                   void *addr,
                   size_t length,
                   struct ibv_mr *mr,
                   int flags);

/**
 * Posts an RDMA read into one buffer.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: application context, returned as wr_id of the completion.
 *   addr: the buffer, which must not be accessed until the completion.
 *   length: size of the buffer in bytes, less than 4 GiB.
 *   mr: memory region that contains the buffer.
 *   flags: bitwise OR of enum ibv_send_flags: IBV_SEND_SIGNALED to generate a completion,
 *       IBV_SEND_INLINE, IBV_SEND_FENCE, IBV_SEND_SOLICITED; or 0.
 *   remote_addr: address in the peer's memory.
 *   rkey: remote key of the memory region, which the peer registered with rdma_reg_read.
 *
 * Description:
 *   Posts the request and returns immediately. The device reads the peer's memory without involving
 *   the peer's software. The completion is added to id->send_cq; until then the contents of the
 *   buffers are undefined.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_read(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_readv(3), rdma_reg_read(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_post_read(struct rdma_cm_id *id,
                   void *context,
                   void *addr,
                   size_t length,
                   struct ibv_mr *mr,
                   int flags,
                   uint64_t remote_addr,
                   uint32_t rkey);

/**
 * Posts an RDMA write from one buffer.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: application context, returned as wr_id of the completion.
 *   addr: the buffer, which must not be modified until the completion; with IBV_SEND_INLINE,
 *       until the call returns.
 *   length: size of the buffer in bytes, less than 4 GiB.
 *   mr: memory region that contains the buffer; may be NULL with IBV_SEND_INLINE.
 *   flags: bitwise OR of enum ibv_send_flags: IBV_SEND_SIGNALED to generate a completion,
 *       IBV_SEND_INLINE, IBV_SEND_FENCE, IBV_SEND_SOLICITED; or 0.
 *   remote_addr: address in the peer's memory.
 *   rkey: remote key of the memory region, which the peer registered with rdma_reg_write.
 *
 * Description:
 *   Posts the request and returns immediately. The device writes the peer's memory without involving
 *   or notifying the peer's software. The completion is added to id->send_cq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_write(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_writev(3), rdma_reg_write(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_post_write(struct rdma_cm_id *id,
                    void *context,
                    void *addr,
                    size_t length,
                    struct ibv_mr *mr,
                    int flags,
                    uint64_t remote_addr,
                    uint32_t rkey);

/**
 * Posts a send of a datagram.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: application context, returned as wr_id of the completion.
 *   addr: the buffer, which must not be modified until the completion; with IBV_SEND_INLINE,
 *       until the call returns.
 *   length: size of the buffer in bytes, less than 4 GiB.
 *   mr: memory region that contains the buffer; may be NULL with IBV_SEND_INLINE.
 *   flags: bitwise OR of enum ibv_send_flags: IBV_SEND_SIGNALED to generate a completion,
 *       IBV_SEND_INLINE, IBV_SEND_FENCE, IBV_SEND_SOLICITED; or 0.
 *   ah: address handle of the peer or the multicast group.
 *   remote_qpn: queue pair number of the peer; 0xFFFFFF for a multicast group.
 *
 * Description:
 *   Posts the request and returns immediately. The peer must have posted a receive with room for 40
 *   additional bytes, the global routing header. The Q_Key is RDMA_UDP_QKEY. The completion is added
 *   to id->send_cq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_ud_send(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_send(3), rdma_join_multicast(3), rdma_get_send_comp(3), ibv_create_ah(3),
 *   ibv_post_send(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_post_ud_send(struct rdma_cm_id *id,
                      void *context,
                      void *addr,
                      size_t length,
                      struct ibv_mr *mr,
                      int flags,
                      struct ibv_ah *ah,
                      uint32_t remote_qpn);

/* end of src/export/verbs/post.rs */

/* made from src/export/verbs/post_list.rs */

/**
 * Posts a receive into a list of buffers.
 *
 * Arguments:
 *   id: an id with a queue pair. If id->srq is set, the receive is posted there.
 *   context: application context, returned as wr_id of the completion.
 *   sgl: array of buffers: address, length and local key of each. The array is only read during
 *       the call.
 *   nsge: number of entries in sgl; may be 0.
 *
 * Description:
 *   Posts the request and returns immediately. The next message from the peer for which no earlier
 *   receive is posted is placed in the buffers. The completion is added to id->recv_cq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_recvv(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_recv(3), rdma_reg_msgs(3), rdma_get_recv_comp(3), ibv_post_recv(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge);

/**
 * Posts a send from a list of buffers.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: application context, returned as wr_id of the completion.
 *   sgl: array of buffers: address, length and local key of each. The array is only read during
 *       the call.
 *   nsge: number of entries in sgl; may be 0.
 *   flags: bitwise OR of enum ibv_send_flags: IBV_SEND_SIGNALED to generate a completion,
 *       IBV_SEND_INLINE, IBV_SEND_FENCE, IBV_SEND_SOLICITED; or 0.
 *
 * Description:
 *   Posts the request and returns immediately. The peer must have posted a receive that is large
 *   enough. The completion is added to id->send_cq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_sendv(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_send(3), rdma_reg_msgs(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl, int nsge, int flags);

/**
 * Posts an RDMA read into a list of buffers.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: application context, returned as wr_id of the completion.
 *   sgl: array of buffers: address, length and local key of each. The array is only read during
 *       the call.
 *   nsge: number of entries in sgl; may be 0.
 *   flags: bitwise OR of enum ibv_send_flags: IBV_SEND_SIGNALED to generate a completion,
 *       IBV_SEND_INLINE, IBV_SEND_FENCE, IBV_SEND_SOLICITED; or 0.
 *   remote_addr: address in the peer's memory.
 *   rkey: remote key of the memory region, which the peer registered with rdma_reg_read.
 *
 * Description:
 *   Posts the request and returns immediately. The device reads the peer's memory without involving
 *   the peer's software. The completion is added to id->send_cq; until then the contents of the
 *   buffers are undefined.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_readv(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_read(3), rdma_reg_read(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_post_readv(struct rdma_cm_id *id,
                    void *context,
                    struct ibv_sge *sgl,
                    int nsge,
                    int flags,
                    uint64_t remote_addr,
                    uint32_t rkey);

/**
 * Posts an RDMA write from a list of buffers.
 *
 * Arguments:
 *   id: an id with a queue pair.
 *   context: application context, returned as wr_id of the completion.
 *   sgl: array of buffers: address, length and local key of each. The array is only read during
 *       the call.
 *   nsge: number of entries in sgl; may be 0.
 *   flags: bitwise OR of enum ibv_send_flags: IBV_SEND_SIGNALED to generate a completion,
 *       IBV_SEND_INLINE, IBV_SEND_FENCE, IBV_SEND_SOLICITED; or 0.
 *   remote_addr: address in the peer's memory.
 *   rkey: remote key of the memory region, which the peer registered with rdma_reg_write.
 *
 * Description:
 *   Posts the request and returns immediately. The device writes the peer's memory without involving
 *   or notifying the peer's software. The completion is added to id->send_cq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure. A request that was not posted has no completion.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_post_writev(3).
 *
 * Notes:
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Any thread may call this function while no thread destroys the queue pair. The order of requests
 *   that two threads post concurrently is unspecified.
 *
 * See also:
 *   rdma_post_write(3), rdma_reg_write(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
 */
RDMACM_HELPER
int rdma_post_writev(struct rdma_cm_id *id,
                     void *context,
                     struct ibv_sge *sgl,
                     int nsge,
                     int flags,
                     uint64_t remote_addr,
                     uint32_t rkey);

/* end of src/export/verbs/post_list.rs */

/* made from src/export/verbs/completion.rs */

/**
 * Waits for the completion of a send, read or write.
 *
 * Arguments:
 *   id: an id with a completion queue created by rdma_create_qp.
 *   wc: where the completion is returned.
 *
 * Description:
 *   Returns the next completion of id->send_cq. If there is none, waits on id->send_cq_channel for
 *   one. status of the completion says whether the work request succeeded; wr_id is the context with
 *   which it was posted.
 *
 * Return value:
 *   1 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, ECONNRESET, EINTR, EINVAL, EIO, ETIMEDOUT; see rdma_get_send_comp(3).
 *
 * Notes:
 *   With a synchronous id the exported function watches the id's events while it waits. When the
 *   peer disconnects or dies it moves the queue pair to the error state: requests that are posted
 *   complete with IBV_WC_WR_FLUSH_ERR. With other ids, and in the header's inline code, the wait
 *   does not end unless the program reads the id's events and calls rdma_disconnect: see LOST PEERS
 *   in rdma_cm(7). status of a failed request is explained in rdma_status(7).
 *
 *   A completion queue that the application created without a channel can only be polled, with
 *   ibv_poll_cq.
 *
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently. Another
 *   thread may call rdma_disconnect during the wait. If several ids share a completion queue, a
 *   thread can receive a completion of another id.
 *
 * See also:
 *   rdma_get_recv_comp(3), rdma_post_send(3), rdma_create_qp(3), ibv_poll_cq(3), rdma_cm(7),
 *   rdma_status(7)
 */
RDMACM_HELPER
int rdma_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc);

/**
 * Waits for the completion of a receive.
 *
 * Arguments:
 *   id: an id with a completion queue created by rdma_create_qp.
 *   wc: where the completion is returned.
 *
 * Description:
 *   Returns the next completion of id->recv_cq. If there is none, waits on id->recv_cq_channel for
 *   one. status of the completion says whether the work request succeeded; wr_id is the context with
 *   which it was posted.
 *
 * Return value:
 *   1 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EAGAIN, ECONNRESET, EINTR, EINVAL, EIO, ETIMEDOUT; see rdma_get_recv_comp(3).
 *
 * Notes:
 *   With a synchronous id the exported function watches the id's events while it waits. When the
 *   peer disconnects or dies it moves the queue pair to the error state: requests that are posted
 *   complete with IBV_WC_WR_FLUSH_ERR. With other ids, and in the header's inline code, the wait
 *   does not end unless the program reads the id's events and calls rdma_disconnect: see LOST PEERS
 *   in rdma_cm(7). status of a failed request is explained in rdma_status(7).
 *
 *   A completion queue that the application created without a channel can only be polled, with
 *   ibv_poll_cq.
 *
 *   The header defines this function inline, as the C library does: that code does not check its
 *   arguments, and a program that uses it runs on either library. The function described here, which
 *   checks them, is exported as RDMACM_RS_1.0 for other languages, and for C and C++ programs that
 *   define RDMACM_EXPORTED_HELPERS before they include the header.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently. Another
 *   thread may call rdma_disconnect during the wait. If several ids share a completion queue, a
 *   thread can receive a completion of another id.
 *
 * See also:
 *   rdma_get_send_comp(3), rdma_post_recv(3), rdma_create_qp(3), ibv_poll_cq(3), rdma_cm(7),
 *   rdma_status(7)
 */
RDMACM_HELPER
int rdma_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc);

/* end of src/export/verbs/completion.rs */

/* made from src/export/verbs/srq.rs */

/**
 * Creates the shared receive queue of an identifier.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   pd: a protection domain of this device, or NULL for id->pd.
 *   attr: attributes of the queue. Updated with the actual sizes.
 *
 * Description:
 *   The queue is id->srq. rdma_create_qp uses it, and rdma_post_recv and rdma_post_recvv post to it.
 *   For an id of type IBV_QPT_XRC_RECV the call creates an XRC queue with the completion queue
 *   id->recv_cq, which the library creates if there is none.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_create_srq(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_create_srq_ex(3), rdma_destroy_srq(3), rdma_create_qp(3), rdma_post_recv(3),
 *   ibv_create_srq(3), rdma_cm(7)
 */
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/**
 * Creates the shared receive queue of an identifier, with extended attributes.
 *
 * Arguments:
 *   id: an id that is bound to a device.
 *   attr: attributes of the queue; IBV_SRQ_INIT_ATTR_TYPE must be set in comp_mask. Updated with
 *       the actual sizes and the objects in use.
 *
 * Description:
 *   Like rdma_create_srq, with the attributes of ibv_create_srq_ex. The default protection domain is
 *   id->pd. For an XRC queue the default XRC domain is one that all ids of the device share, and the
 *   default completion queue is id->recv_cq.
 *
 * Return value:
 *   0 on success, -1 with errno set on failure.
 *
 * Errors:
 *   EINVAL, ENOMEM, EOPNOTSUPP; see rdma_create_srq_ex(3).
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_create_srq(3), rdma_destroy_srq(3), ibv_create_srq_ex(3), rdma_cm(7)
 */
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);

/**
 * Destroys the shared receive queue of an identifier.
 *
 * Arguments:
 *   id: the id; NULL, or an id without a shared receive queue, has no effect.
 *
 * Description:
 *   Destroys id->srq, and the completion queue that the library created for it, unless a queue pair
 *   still uses that.
 *
 * Return value:
 *   None.
 *
 * Notes:
 *   Call this function after rdma_destroy_qp for every queue pair that uses the queue, and before
 *   rdma_destroy_id. A queue that is in use is not destroyed: it remains in id->srq, and the call
 *   may be repeated.
 *
 * Thread safety:
 *   Only one thread at a time may use an id. Any number of ids may be used concurrently.
 *
 * See also:
 *   rdma_create_srq(3), rdma_destroy_qp(3), ibv_destroy_srq(3), rdma_cm(7)
 */
void rdma_destroy_srq(struct rdma_cm_id *id);

/* end of src/export/verbs/srq.rs */

#ifdef __cplusplus
}
#endif

#ifdef RDMACM_INLINE_HELPERS
#include <rdma/rdma_verbs_inline.h>
#endif

#endif
