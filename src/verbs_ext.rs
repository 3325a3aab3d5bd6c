//! The helpers of `<rdma/rdma_verbs.h>`: posting work and fetching completions with an id in hand.
//!
//! These are hot paths: a null check, the work request on the stack, the provider's own function. No
//! lock, no allocation.
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

/// One buffer as a scatter list entry.
///
/// # Safety
/// `region` is NULL or registered.
#[inline]
unsafe fn entry(address: *mut c_void, length: usize, region: *const ibv_mr) -> Result<ibv_sge> {
    let length = u32::try_from(length).map_err(|_| Errno::EINVAL)?;
    // SAFETY: by contract. Inline data needs no region.
    let lkey = unsafe { region.as_ref() }.map_or(0, |region| region.lkey);
    Ok(ibv_sge { addr: address as u64, length, lkey })
}

#[inline]
fn check_list(list: *const ibv_sge, count: c_int) -> Result<()> {
    if count < 0 || (count > 0 && list.is_null()) { Err(Errno::EINVAL) } else { Ok(()) }
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
    let id = unsafe { id.as_ref() }.ok_or(Errno::EINVAL)?;
    check_list(list, count)?;
    let mut request = ibv_recv_wr {
        wr_id: context as u64,
        next: std::ptr::null_mut(),
        sg_list: list,
        num_sge: count,
    };
    let mut bad = std::ptr::null_mut();
    // SAFETY: fields of a valid id name live objects; the provider's table is complete or None.
    let returned = unsafe {
        if let Some(queue) = id.srq.as_ref() {
            let post = (*queue.context).ops.post_srq_recv.ok_or(Errno::EOPNOTSUPP)?;
            post(id.srq, &raw mut request, &raw mut bad)
        } else {
            let queue_pair = id.qp.as_ref().ok_or(Errno::EINVAL)?;
            let post = (*queue_pair.context).ops.post_recv.ok_or(Errno::EOPNOTSUPP)?;
            post(id.qp, &raw mut request, &raw mut bad)
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
    let bounds = unsafe { region.as_ref() }.ok_or(Errno::EINVAL)?;
    let start = (address as usize).checked_sub(bounds.addr as usize).ok_or(Errno::EINVAL)?;
    if start.checked_add(length).is_none_or(|end| end > bounds.length) {
        return Err(Errno::EINVAL);
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
    let id = unsafe { id.as_ref() }.ok_or(Errno::EINVAL)?;
    check_list(list, count)?;
    let queue_pair: *mut ibv_qp = id.qp;
    if queue_pair.is_null() {
        return Err(Errno::EINVAL);
    }
    let mut request = MaybeUninit::<ibv_send_wr>::uninit();
    let raw = request.as_mut_ptr();
    let mut bad = std::ptr::null_mut();
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
        let post = (*(*queue_pair).context).ops.post_send.ok_or(Errno::EOPNOTSUPP)?;
        post(queue_pair, raw, &raw mut bad)
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
        return Err(Errno::EINVAL);
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
        return Err(Errno::EINVAL);
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
        let id = id.as_ref().ok_or(Errno::EINVAL)?;
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
        let id = id.as_ref().ok_or(Errno::EINVAL)?;
        next_completion(id.recv_cq, id.recv_cq_channel, completion)
    }
}

/// Polls, arms, polls again, and only then sleeps: a completion between the first poll and the arming
/// is not missed.
///
/// # Safety
/// Queue and channel are NULL or live.
unsafe fn next_completion(
    queue: *mut ibv_cq,
    channel: *mut ibv_comp_channel,
    completion: *mut ibv_wc,
) -> Result<c_int> {
    if queue.is_null() || completion.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: a live queue has a context with its operations.
    let (poll, arm) = unsafe {
        let operations = &(*(*queue).context).ops;
        (
            operations.poll_cq.ok_or(Errno::EOPNOTSUPP)?,
            operations.req_notify_cq.ok_or(Errno::EOPNOTSUPP)?,
        )
    };
    let polled = || {
        // SAFETY: a live queue and room for one completion.
        match unsafe { poll(queue, 1, completion) } {
            0 => Ok(None),
            count if count > 0 => Ok(Some(count)),
            // Providers that only say "-1" give no reason.
            -1 => Err(Errno::EIO),
            code => Err(Errno::of(code)),
        }
    };
    loop {
        if let Some(count) = polled()? {
            return Ok(count);
        }
        if channel.is_null() {
            // Nothing could wake us.
            return Err(Errno::EINVAL);
        }
        // SAFETY: a live queue.
        Errno::check(unsafe { arm(queue, 0) })?;
        if let Some(count) = polled()? {
            return Ok(count);
        }
        let mut woken = std::ptr::null_mut();
        let mut context = std::ptr::null_mut();
        // SAFETY: a live channel; the queue it names is live until its events are acknowledged.
        unsafe {
            if rdma_sys::ibv_get_cq_event(channel, &raw mut woken, &raw mut context) != 0 {
                return Err(Errno::last());
            }
            rdma_sys::ibv_ack_cq_events(woken, 1);
        }
    }
}
