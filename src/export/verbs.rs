//! `<rdma/rdma_verbs.h>`: memory, posting, completions.
#![allow(unsafe_code)]

use super::ret::IntoC;
use crate::types::rdma_cm_id;
use crate::verbs_ext::{self, Buffer, Remote};
use libc::{c_int, c_void};
use rdma_sys::{ibv_ah, ibv_mr, ibv_sge, ibv_wc};

/// Registers memory for sends and receives.
///
/// # Arguments
///
/// - `id`: an id with a protection domain: bound to a device, or with `id->pd` set.
/// - `addr`: the memory, which must stay until rdma_dereg_mr.
/// - `length`: its size in bytes.
///
/// # Description
///
/// Makes a memory region in `id->pd`. Local access only, for rdma_post_recv, rdma_post_send and
/// the local side of reads and writes.
///
/// # Return value
///
/// The region, which belongs to the caller until rdma_dereg_mr, or NULL with `errno`.
///
/// # Errors
///
/// - `EFAULT`: the memory is not the caller's.
/// - `EINVAL`: `id` is NULL or has no protection domain, or the device refuses the memory.
/// - `ENOMEM`: out of memory, or more than the device has or the process may lock
///   (RLIMIT_MEMLOCK).
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread, as long as none ends or rebinds the id.
///
/// # See also
///
/// rdma_reg_read(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_msgs(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { verbs_ext::register(id, addr, length, verbs_ext::LOCAL) }.into_c()
}

/// Registers memory for the peer's RDMA reads.
///
/// # Arguments
///
/// - `id`: an id with a protection domain: bound to a device, or with `id->pd` set.
/// - `addr`: the memory, which must stay until rdma_dereg_mr.
/// - `length`: its size in bytes.
///
/// # Description
///
/// Makes a memory region in `id->pd`. The peer may read it; it can also be used for sends and
/// receives of this side. The peer needs the address and `rkey` of the region.
///
/// # Return value
///
/// The region, which belongs to the caller until rdma_dereg_mr, or NULL with `errno`.
///
/// # Errors
///
/// - `EFAULT`: the memory is not the caller's.
/// - `EINVAL`: `id` is NULL or has no protection domain, or the device refuses the memory.
/// - `ENOMEM`: out of memory, or more than the device has or the process may lock
///   (RLIMIT_MEMLOCK).
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread, as long as none ends or rebinds the id.
///
/// # See also
///
/// rdma_reg_msgs(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_read(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { verbs_ext::register(id, addr, length, verbs_ext::REMOTE_READ) }.into_c()
}

/// Registers memory for the peer's RDMA writes.
///
/// # Arguments
///
/// - `id`: an id with a protection domain: bound to a device, or with `id->pd` set.
/// - `addr`: the memory, which must stay until rdma_dereg_mr.
/// - `length`: its size in bytes.
///
/// # Description
///
/// Makes a memory region in `id->pd`. The peer may write it; it can also be used for sends and
/// receives of this side. The peer needs the address and `rkey` of the region.
///
/// # Return value
///
/// The region, which belongs to the caller until rdma_dereg_mr, or NULL with `errno`.
///
/// # Errors
///
/// - `EFAULT`: the memory is not the caller's.
/// - `EINVAL`: `id` is NULL or has no protection domain, or the device refuses the memory.
/// - `ENOMEM`: out of memory, or more than the device has or the process may lock
///   (RLIMIT_MEMLOCK).
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread, as long as none ends or rebinds the id.
///
/// # See also
///
/// rdma_reg_msgs(3), rdma_reg_read(3), rdma_dereg_mr(3), ibv_reg_mr(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_reg_write(
    id: *mut rdma_cm_id,
    addr: *mut c_void,
    length: usize,
) -> *mut ibv_mr {
    // SAFETY: a valid id pointer or NULL; the memory is the caller's.
    unsafe { verbs_ext::register(id, addr, length, verbs_ext::REMOTE_WRITE) }.into_c()
}

/// Ends the registration of memory.
///
/// # Arguments
///
/// - `mr`: a region of rdma_reg_msgs, rdma_reg_read, rdma_reg_write or ibv_reg_mr; on success
///   not to be used afterwards.
///
/// # Description
///
/// The device forgets the memory. Nothing that is posted may still use it.
///
/// # Return value
///
/// 0, or -1 with `errno`.
///
/// # Errors
///
/// - `EBUSY`: a memory window is bound to the region.
/// - `EINVAL`: `mr` is NULL.
///
/// Other values are the kernel's or the device's.
///
/// # Thread safety
///
/// Any thread, as long as no other one uses the region.
///
/// # See also
///
/// rdma_reg_msgs(3), rdma_reg_read(3), rdma_reg_write(3), ibv_dereg_mr(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_dereg_mr(mr: *mut ibv_mr) -> c_int {
    // SAFETY: a region or NULL, not used again.
    unsafe { verbs_ext::deregister(mr) }.into_c()
}

/// Posts a receive into a list of buffers.
///
/// # Arguments
///
/// - `id`: an id with a queue pair; with a shared receive queue the receive goes there.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `sgl`: the buffers, by address, length and local key. The list itself is only read during
///   the call.
/// - `nsge`: how many there are; 0 is allowed.
///
/// # Description
///
/// Returns at once. The next message of the peer that finds no earlier receive goes there. Its
/// completion is on `id->recv_cq`.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `nsge` is negative, `sgl` is NULL, or the
///   device refuses the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_recv(3), rdma_reg_msgs(3), rdma_get_recv_comp(3), ibv_post_recv(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_recvv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { verbs_ext::post_receive_list(id, context, sgl, nsge) }.into_c()
}

/// Posts a send from a list of buffers.
///
/// # Arguments
///
/// - `id`: an id with a queue pair.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `sgl`: the buffers, by address, length and local key. The list itself is only read during
///   the call.
/// - `nsge`: how many there are; 0 is allowed.
/// - `flags`: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
///   IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
///
/// # Description
///
/// Returns at once. The peer needs a receive posted that is large enough. The completion is on
/// `id->send_cq`.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `nsge` is negative, `sgl` is NULL, or the
///   device refuses the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_send(3), rdma_reg_msgs(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_sendv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { verbs_ext::post_send_list(id, context, sgl, nsge, flags) }.into_c()
}

/// Posts a read of the peer's memory into a list of buffers.
///
/// # Arguments
///
/// - `id`: an id with a queue pair.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `sgl`: the buffers, by address, length and local key. The list itself is only read during
///   the call.
/// - `nsge`: how many there are; 0 is allowed.
/// - `flags`: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
///   IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
/// - `remote_addr`: where, in the peer's memory.
/// - `rkey`: the key of the peer's region, made by rdma_reg_read there.
///
/// # Description
///
/// Returns at once. Copies the peer's memory without the peer's program taking part. The
/// completion is on `id->send_cq`; before it the buffers have no defined contents.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `nsge` is negative, `sgl` is NULL, or the
///   device refuses the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_read(3), rdma_reg_read(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_readv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
    flags: c_int,
    remote_addr: u64,
    rkey: u32,
) -> c_int {
    let remote = Remote { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { verbs_ext::post_read_list(id, context, sgl, nsge, flags, remote) }.into_c()
}

/// Posts a write to the peer's memory from a list of buffers.
///
/// # Arguments
///
/// - `id`: an id with a queue pair.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `sgl`: the buffers, by address, length and local key. The list itself is only read during
///   the call.
/// - `nsge`: how many there are; 0 is allowed.
/// - `flags`: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
///   IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
/// - `remote_addr`: where, in the peer's memory.
/// - `rkey`: the key of the peer's region, made by rdma_reg_write there.
///
/// # Description
///
/// Returns at once. Copies to the peer's memory without the peer's program taking part, or
/// knowing. The completion is on `id->send_cq`.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `nsge` is negative, `sgl` is NULL, or the
///   device refuses the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_write(3), rdma_reg_write(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_writev(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    sgl: *mut ibv_sge,
    nsge: c_int,
    flags: c_int,
    remote_addr: u64,
    rkey: u32,
) -> c_int {
    let remote = Remote { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the list has `nsge` entries.
    unsafe { verbs_ext::post_write_list(id, context, sgl, nsge, flags, remote) }.into_c()
}

/// Posts a receive into one buffer.
///
/// # Arguments
///
/// - `id`: an id with a queue pair; with a shared receive queue the receive goes there.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `addr`: the buffer, which must stay untouched until the completion.
/// - `length`: its size in bytes, less than 4 GiB.
/// - `mr`: the region that has the buffer.
///
/// # Description
///
/// Returns at once. The next message of the peer that finds no earlier receive goes there. Its
/// completion is on `id->recv_cq`.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `length` is too large, `mr` is NULL or the
///   buffer is not inside it, or the device refuses the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments,
/// but for an assertion that the buffer is inside the region.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_recvv(3), rdma_reg_msgs(3), rdma_get_recv_comp(3), ibv_post_recv(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_recv(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
) -> c_int {
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { verbs_ext::post_receive(id, context, addr, length, mr) }.into_c()
}

/// Posts a send from one buffer.
///
/// # Arguments
///
/// - `id`: an id with a queue pair.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `addr`: the buffer, which must stay untouched until the completion; with IBV_SEND_INLINE
///   only until the call returns.
/// - `length`: its size in bytes, less than 4 GiB.
/// - `mr`: the region that has the buffer; NULL with IBV_SEND_INLINE.
/// - `flags`: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
///   IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
///
/// # Description
///
/// Returns at once. The peer needs a receive posted that is large enough. The completion is on
/// `id->send_cq`.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `length` is too large, or the device refuses
///   the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_sendv(3), rdma_reg_msgs(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_send(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
    flags: c_int,
) -> c_int {
    let buffer = Buffer { address: addr, length, region: mr };
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { verbs_ext::post_send(id, context, buffer, flags) }.into_c()
}

/// Posts a read of the peer's memory into one buffer.
///
/// # Arguments
///
/// - `id`: an id with a queue pair.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `addr`: the buffer, which must stay untouched until the completion.
/// - `length`: its size in bytes, less than 4 GiB.
/// - `mr`: the region that has the buffer.
/// - `flags`: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
///   IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
/// - `remote_addr`: where, in the peer's memory.
/// - `rkey`: the key of the peer's region, made by rdma_reg_read there.
///
/// # Description
///
/// Returns at once. Copies the peer's memory without the peer's program taking part. The
/// completion is on `id->send_cq`; before it the buffers have no defined contents.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `length` is too large, `mr` is NULL, or the
///   device refuses the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_readv(3), rdma_reg_read(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_read(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
    flags: c_int,
    remote_addr: u64,
    rkey: u32,
) -> c_int {
    let buffer = Buffer { address: addr, length, region: mr };
    let remote = Remote { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { verbs_ext::post_read(id, context, buffer, flags, remote) }.into_c()
}

/// Posts a write to the peer's memory from one buffer.
///
/// # Arguments
///
/// - `id`: an id with a queue pair.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `addr`: the buffer, which must stay untouched until the completion; with IBV_SEND_INLINE
///   only until the call returns.
/// - `length`: its size in bytes, less than 4 GiB.
/// - `mr`: the region that has the buffer; NULL with IBV_SEND_INLINE.
/// - `flags`: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
///   IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
/// - `remote_addr`: where, in the peer's memory.
/// - `rkey`: the key of the peer's region, made by rdma_reg_write there.
///
/// # Description
///
/// Returns at once. Copies to the peer's memory without the peer's program taking part, or
/// knowing. The completion is on `id->send_cq`.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `length` is too large, or the device refuses
///   the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_writev(3), rdma_reg_write(3), rdma_get_send_comp(3), ibv_post_send(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_write(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
    flags: c_int,
    remote_addr: u64,
    rkey: u32,
) -> c_int {
    let buffer = Buffer { address: addr, length, region: mr };
    let remote = Remote { address: remote_addr, key: rkey };
    // SAFETY: a valid id pointer or NULL; the region is NULL or registered.
    unsafe { verbs_ext::post_write(id, context, buffer, flags, remote) }.into_c()
}

/// Posts a datagram to a peer.
///
/// # Arguments
///
/// - `id`: an id with a queue pair.
/// - `context`: any pointer, comes back as `wr_id` of the completion.
/// - `addr`: the buffer, which must stay untouched until the completion; with IBV_SEND_INLINE
///   only until the call returns.
/// - `length`: its size in bytes, less than 4 GiB.
/// - `mr`: the region that has the buffer; NULL with IBV_SEND_INLINE.
/// - `flags`: of enum ibv_send_flags: IBV_SEND_SIGNALED to get a completion, IBV_SEND_INLINE,
///   IBV_SEND_FENCE, IBV_SEND_SOLICITED, or 0.
/// - `ah`: an address handle of the peer or group.
/// - `remote_qpn`: the peer's queue pair number; 0xFFFFFF for a group.
///
/// # Description
///
/// Returns at once. The peer needs a receive posted with room for 40 bytes more, the global
/// routing header. The Q_Key is RDMA_UDP_QKEY. The completion is on `id->send_cq`.
///
/// # Return value
///
/// 0, or -1 with `errno`. A request that was not posted has no completion.
///
/// # Errors
///
/// - `EINVAL`: `id` is NULL or has no queue pair, `length` is too large, `ah` is NULL, or the
///   device refuses the request.
/// - `ENOMEM`: the queue is full.
/// - `EOPNOTSUPP`: the device cannot do this.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// Any thread, as long as none destroys the queue pair. Which of two threads posts first is up
/// to them.
///
/// # See also
///
/// rdma_post_send(3), rdma_join_multicast(3), rdma_get_send_comp(3), ibv_create_ah(3),
/// ibv_post_send(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_post_ud_send(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    addr: *mut c_void,
    length: usize,
    mr: *mut ibv_mr,
    flags: c_int,
    ah: *mut ibv_ah,
    remote_qpn: u32,
) -> c_int {
    let buffer = Buffer { address: addr, length, region: mr };
    // SAFETY: a valid id pointer or NULL; region and address handle are NULL or live.
    unsafe { verbs_ext::post_datagram(id, context, buffer, flags, ah, remote_qpn) }.into_c()
}

/// Waits for the completion of a send, read or write.
///
/// # Arguments
///
/// - `id`: an id with a completion queue of its own, made by rdma_create_qp.
/// - `wc`: where the completion is returned.
///
/// # Description
///
/// Takes the next completion from `id->send_cq`. If there is none, sleeps on
/// `id->send_cq_channel` until there is. `status` of the completion says whether the work
/// succeeded; `wr_id` is the context of the post.
///
/// # Return value
///
/// 1 for one completion, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is none, and the channel's file has O_NONBLOCK.
/// - `EINTR`: a signal came.
/// - `EINVAL`: `id` or `wc` is NULL, or the id has no completion queue, or none with a channel
///   to sleep on.
/// - `EIO`: the device failed without a reason.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// A completion queue of the program's own without channel can be polled with ibv_poll_cq only.
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads. With a queue that
/// several ids share, a thread can take another id's completion.
///
/// # See also
///
/// rdma_get_recv_comp(3), rdma_post_send(3), rdma_create_qp(3), ibv_poll_cq(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_send_comp(id: *mut rdma_cm_id, wc: *mut ibv_wc) -> c_int {
    // SAFETY: a valid id pointer and a place for the completion, or NULL.
    unsafe { verbs_ext::send_completion(id, wc) }.into_c()
}

/// Waits for the completion of a receive.
///
/// # Arguments
///
/// - `id`: an id with a completion queue of its own, made by rdma_create_qp.
/// - `wc`: where the completion is returned.
///
/// # Description
///
/// Takes the next completion from `id->recv_cq`. If there is none, sleeps on
/// `id->recv_cq_channel` until there is. `status` of the completion says whether the work
/// succeeded; `wr_id` is the context of the post.
///
/// # Return value
///
/// 1 for one completion, or -1 with `errno`.
///
/// # Errors
///
/// - `EAGAIN`: there is none, and the channel's file has O_NONBLOCK.
/// - `EINTR`: a signal came.
/// - `EINVAL`: `id` or `wc` is NULL, or the id has no completion queue, or none with a channel
///   to sleep on.
/// - `EIO`: the device failed without a reason.
///
/// Other values are the kernel's or the device's.
///
/// # Notes
///
/// A completion queue of the program's own without channel can be polled with ibv_poll_cq only.
/// Optimised C and C++ programs get this as inline code, which does not check its arguments.
///
/// # Thread safety
///
/// One thread at a time per id; any number of ids in any number of threads. With a queue that
/// several ids share, a thread can take another id's completion.
///
/// # See also
///
/// rdma_get_send_comp(3), rdma_post_recv(3), rdma_create_qp(3), ibv_poll_cq(3), rdma_cm(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdma_get_recv_comp(id: *mut rdma_cm_id, wc: *mut ibv_wc) -> c_int {
    // SAFETY: a valid id pointer and a place for the completion, or NULL.
    unsafe { verbs_ext::receive_completion(id, wc) }.into_c()
}
