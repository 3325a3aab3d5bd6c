//! The helpers of `<rdma/rdma_verbs.h>`: posting work and fetching completions with an id in hand.
//!
//! These are hot paths: a null check, the work request on the stack, the provider's own function. No
//! lock, no allocation. What fails is out of line (`benches/run helpers` counts the instructions).
//!
//! # Safety
//! Works on the public part of a valid id and on the caller's regions and lists, as the C helpers do.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use crate::types::{RDMA_UDP_QKEY, rdma_cm_id};
use libc::{c_int, c_void};
use rdma_sys::{
    ibv_access_flags, ibv_ah, ibv_comp_channel, ibv_cq, ibv_mr, ibv_qp, ibv_recv_wr, ibv_send_wr,
    ibv_sge, ibv_wc, ibv_wr_opcode,
};
use std::hint::black_box;
use std::mem::MaybeUninit;

pub(crate) const LOCAL: u32 = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0;
pub(crate) const REMOTE_READ: u32 = LOCAL | ibv_access_flags::IBV_ACCESS_REMOTE_READ.0;
pub(crate) const REMOTE_WRITE: u32 = LOCAL | ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0;

/// Registers memory in the id's protection domain.
///
/// # Safety
/// `id` is a valid id or NULL; the memory outlives the region.
pub(crate) unsafe fn register(
    id: *mut rdma_cm_id,
    address: *mut c_void,
    length: usize,
    access: u32,
) -> Result<*mut ibv_mr> {
    // SAFETY: by contract.
    let id = unsafe { id.as_ref() }.ok_or(Errno::EINVAL)?;
    if id.pd.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: a live domain; libibverbs checks the range.
    let region = unsafe { rdma_sys::ibv_reg_mr(id.pd, address, length, access as c_int) };
    if region.is_null() { Err(Errno::last()) } else { Ok(region) }
}

/// # Safety
/// `region` is NULL or registered and not used again.
pub(crate) unsafe fn deregister(region: *mut ibv_mr) -> Result<()> {
    if region.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: by contract.
    Errno::check(unsafe { rdma_sys::ibv_dereg_mr(region) })
}

/// A wrong argument. Hidden from the optimiser, which would otherwise prepare for it in every call.
#[cold]
#[inline(never)]
fn wrong() -> Errno {
    black_box(Errno::EINVAL)
}

/// The provider has no such operation.
#[cold]
#[inline(never)]
fn missing() -> Errno {
    black_box(Errno::EOPNOTSUPP)
}

/// One buffer as a scatter list entry.
///
/// # Safety
/// `region` is NULL or registered.
#[inline]
unsafe fn entry(address: *mut c_void, length: usize, region: *const ibv_mr) -> Result<ibv_sge> {
    let length = u32::try_from(length).map_err(|_| wrong())?;
    // SAFETY: by contract. Inline data needs no region.
    let lkey = unsafe { region.as_ref() }.map_or(0, |region| region.lkey);
    Ok(ibv_sge { addr: address as u64, length, lkey })
}

#[inline]
fn check_list(list: *const ibv_sge, count: c_int) -> Result<()> {
    // An empty list may be NULL; a list that is not pays one comparison for that.
    if count < 0 || (list.is_null() && black_box(count) != 0) { Err(wrong()) } else { Ok(()) }
}

/// # Safety
/// `id` is a valid id or NULL; `list` has `count` entries.
#[inline]
pub(crate) unsafe fn post_receive_list(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    list: *mut ibv_sge,
    count: c_int,
) -> Result<()> {
    // SAFETY: by contract.
    let id = unsafe { id.as_ref() }.ok_or_else(wrong)?;
    check_list(list, count)?;
    let mut request = ibv_recv_wr {
        wr_id: context as u64,
        next: std::ptr::null_mut(),
        sg_list: list,
        num_sge: count,
    };
    let mut bad = MaybeUninit::uninit();
    // SAFETY: fields of a valid id name live objects; the provider's table is complete or None.
    let returned = unsafe {
        if let Some(queue) = id.srq.as_ref() {
            let post = (*queue.context).ops.post_srq_recv.ok_or_else(missing)?;
            post(id.srq, &raw mut request, bad.as_mut_ptr())
        } else {
            let queue_pair = id.qp.as_ref().ok_or_else(wrong)?;
            let post = (*queue_pair.context).ops.post_recv.ok_or_else(missing)?;
            post(id.qp, &raw mut request, bad.as_mut_ptr())
        }
    };
    Errno::check(returned)
}

/// # Safety
/// `id` is a valid id or NULL; `region` is NULL or registered.
pub(crate) unsafe fn post_receive(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    address: *mut c_void,
    length: usize,
    region: *const ibv_mr,
) -> Result<()> {
    // SAFETY: by contract.
    let bounds = unsafe { region.as_ref() }.ok_or_else(wrong)?;
    let start = (address as usize).checked_sub(bounds.addr as usize).ok_or_else(wrong)?;
    if start.checked_add(length).is_none_or(|end| end > bounds.length) {
        return Err(wrong());
    }
    // SAFETY: by contract.
    unsafe {
        let mut entry = entry(address, length, region)?;
        post_receive_list(id, context, &raw mut entry, 1)
    }
}

/// Fills what every send has and hands it to the provider; `opcode` decides what `finish` must add.
///
/// # Safety
/// `id` is a valid id or NULL; `list` has `count` entries; `finish` writes the fields that the opcode
/// uses.
#[inline(always)]
unsafe fn post(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    (list, count): (*mut ibv_sge, c_int),
    flags: c_int,
    opcode: ibv_wr_opcode::Type,
    finish: impl FnOnce(&mut ibv_send_wr),
) -> Result<()> {
    // SAFETY: by contract.
    let id = unsafe { id.as_ref() }.ok_or_else(wrong)?;
    check_list(list, count)?;
    let queue_pair: *mut ibv_qp = id.qp;
    if queue_pair.is_null() {
        return Err(wrong());
    }
    let mut request = MaybeUninit::<ibv_send_wr>::uninit();
    let raw = request.as_mut_ptr();
    let mut bad = MaybeUninit::uninit();
    // SAFETY: providers read the fields that the opcode uses, as with the C helpers; the others are
    // integers, for which any bytes do. A live queue pair has a context with its operations.
    let returned = unsafe {
        (*raw).wr_id = context as u64;
        (*raw).next = std::ptr::null_mut();
        (*raw).sg_list = list;
        (*raw).num_sge = count;
        (*raw).opcode = opcode;
        (*raw).send_flags = flags as u32;
        finish(&mut *raw);
        let post = (*(*queue_pair).context).ops.post_send.ok_or_else(missing)?;
        post(queue_pair, raw, bad.as_mut_ptr())
    };
    Errno::check(returned)
}

/// # Safety
/// As `post`.
#[inline]
pub(crate) unsafe fn post_send_list(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    list: *mut ibv_sge,
    count: c_int,
    flags: c_int,
) -> Result<()> {
    // SAFETY: by contract; a send has no further fields.
    unsafe { post(id, context, (list, count), flags, ibv_wr_opcode::IBV_WR_SEND, |_| {}) }
}

/// Memory of the peer.
#[derive(Clone, Copy)]
pub(crate) struct Remote {
    pub(crate) address: u64,
    pub(crate) key: u32,
}

/// # Safety
/// As `post`.
#[inline]
pub(crate) unsafe fn post_read_list(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    list: *mut ibv_sge,
    count: c_int,
    flags: c_int,
    remote: Remote,
) -> Result<()> {
    let opcode = ibv_wr_opcode::IBV_WR_RDMA_READ;
    // SAFETY: by contract; the remote address is all that a read adds.
    unsafe {
        post(id, context, (list, count), flags, opcode, |request| {
            request.wr.rdma.remote_addr = remote.address;
            request.wr.rdma.rkey = remote.key;
        })
    }
}

/// # Safety
/// As `post`.
#[inline]
pub(crate) unsafe fn post_write_list(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    list: *mut ibv_sge,
    count: c_int,
    flags: c_int,
    remote: Remote,
) -> Result<()> {
    let opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE;
    // SAFETY: by contract; the remote address is all that a write adds.
    unsafe {
        post(id, context, (list, count), flags, opcode, |request| {
            request.wr.rdma.remote_addr = remote.address;
            request.wr.rdma.rkey = remote.key;
        })
    }
}

/// A buffer of the caller's with its region, NULL where none is needed.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) address: *mut c_void,
    pub(crate) length: usize,
    pub(crate) region: *const ibv_mr,
}

/// # Safety
/// As `post`; the region is NULL or registered.
pub(crate) unsafe fn post_send(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    buffer: Buffer,
    flags: c_int,
) -> Result<()> {
    // SAFETY: by contract.
    unsafe {
        let mut entry = entry(buffer.address, buffer.length, buffer.region)?;
        post_send_list(id, context, &raw mut entry, 1, flags)
    }
}

/// # Safety
/// As `post_send`.
pub(crate) unsafe fn post_read(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    buffer: Buffer,
    flags: c_int,
    remote: Remote,
) -> Result<()> {
    // A read writes to local memory, which always needs a region.
    if buffer.region.is_null() {
        return Err(wrong());
    }
    // SAFETY: by contract.
    unsafe {
        let mut entry = entry(buffer.address, buffer.length, buffer.region)?;
        post_read_list(id, context, &raw mut entry, 1, flags, remote)
    }
}

/// # Safety
/// As `post_send`.
pub(crate) unsafe fn post_write(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    buffer: Buffer,
    flags: c_int,
    remote: Remote,
) -> Result<()> {
    // SAFETY: by contract.
    unsafe {
        let mut entry = entry(buffer.address, buffer.length, buffer.region)?;
        post_write_list(id, context, &raw mut entry, 1, flags, remote)
    }
}

/// # Safety
/// As `post_send`; `handle` is a live address handle or NULL.
pub(crate) unsafe fn post_datagram(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    buffer: Buffer,
    flags: c_int,
    handle: *mut ibv_ah,
    remote_qpn: u32,
) -> Result<()> {
    if handle.is_null() {
        return Err(wrong());
    }
    let opcode = ibv_wr_opcode::IBV_WR_SEND;
    // SAFETY: by contract; a datagram adds its destination.
    unsafe {
        let mut entry = entry(buffer.address, buffer.length, buffer.region)?;
        post(id, context, (&raw mut entry, 1), flags, opcode, |request| {
            request.wr.ud.ah = handle;
            request.wr.ud.remote_qpn = remote_qpn;
            request.wr.ud.remote_qkey = RDMA_UDP_QKEY;
        })
    }
}

/// # Safety
/// `id` is a valid id or NULL; `completion` is NULL or writable.
pub(crate) unsafe fn send_completion(
    id: *mut rdma_cm_id,
    completion: *mut ibv_wc,
) -> Result<c_int> {
    // SAFETY: by contract.
    unsafe {
        let id = id.as_ref().ok_or_else(wrong)?;
        next_completion(id.send_cq, id.send_cq_channel, completion)
    }
}

/// # Safety
/// As `send_completion`.
pub(crate) unsafe fn receive_completion(
    id: *mut rdma_cm_id,
    completion: *mut ibv_wc,
) -> Result<c_int> {
    // SAFETY: by contract.
    unsafe {
        let id = id.as_ref().ok_or_else(wrong)?;
        next_completion(id.recv_cq, id.recv_cq_channel, completion)
    }
}

/// Polls; what is there already costs no more than that.
///
/// # Safety
/// Queue and channel are NULL or live.
#[inline(always)]
unsafe fn next_completion(
    queue: *mut ibv_cq,
    channel: *mut ibv_comp_channel,
    completion: *mut ibv_wc,
) -> Result<c_int> {
    if queue.is_null() || completion.is_null() {
        return Err(wrong());
    }
    // SAFETY: a live queue and room for one completion.
    let count = unsafe { poll(queue, completion)? };
    if count > 0 {
        return Ok(count);
    }
    // SAFETY: by contract.
    unsafe { completion_after(count, queue, channel, completion) }
}

/// # Safety
/// A live queue, which has a context with its operations, and room for one completion.
#[inline(always)]
unsafe fn poll(queue: *mut ibv_cq, completion: *mut ibv_wc) -> Result<c_int> {
    // SAFETY: by contract.
    unsafe {
        let poll = (*(*queue).context).ops.poll_cq.ok_or_else(missing)?;
        Ok(poll(queue, 1, completion))
    }
}

/// After a first poll that found nothing, or failed: arms, polls again, and only then sleeps. A completion
/// between the first poll and the arming is not missed.
///
/// # Safety
/// As `next_completion`; the queue is live.
#[cold]
#[inline(never)]
unsafe fn completion_after(
    mut polled: c_int,
    queue: *mut ibv_cq,
    channel: *mut ibv_comp_channel,
    completion: *mut ibv_wc,
) -> Result<c_int> {
    let mut armed = false;
    loop {
        match polled {
            0 => {}
            count if count > 0 => return Ok(count),
            // Providers that only say "-1" give no reason.
            -1 => return Err(Errno::EIO),
            code => return Err(Errno::of(code)),
        }
        if channel.is_null() {
            // Nothing could wake us.
            return Err(Errno::EINVAL);
        }
        // SAFETY: a live queue and its channel, by contract.
        unsafe {
            if armed {
                sleep(channel)?;
            } else {
                let arm = (*(*queue).context).ops.req_notify_cq.ok_or_else(missing)?;
                Errno::check(arm(queue, 0))?;
            }
            armed = !armed;
            polled = poll(queue, completion)?;
        }
    }
}

/// # Safety
/// A live channel.
unsafe fn sleep(channel: *mut ibv_comp_channel) -> Result<()> {
    let mut woken = std::ptr::null_mut();
    let mut context = std::ptr::null_mut();
    // SAFETY: by contract; the queue it names is live until its events are acknowledged.
    unsafe {
        if rdma_sys::ibv_get_cq_event(channel, &raw mut woken, &raw mut context) != 0 {
            return Err(Errno::last());
        }
        rdma_sys::ibv_ack_cq_events(woken, 1);
    }
    Ok(())
}
