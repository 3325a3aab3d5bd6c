// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The helpers of `<rdma/rdma_verbs.h>`: which queue of an id, and whose buffer; the rest is in
//! `verbs`.
//!
//! These are hot paths: a null check, the work request on the stack, the provider's own function.
//! No lock, no allocation. What fails is out of line (`benches/run helpers` counts the
//! instructions).
//!
//! # Safety
//! Works on the public part of a valid id, whose fields name live objects, and on the caller's
//! regions and lists, as the C helpers do.
#![allow(unsafe_code)]

use crate::types::{RDMA_UDP_QKEY, rdma_cm_id};
use crate::verbs::{
    self, QueuePair, ReceiveQueue, Remote, ScatterList, SendRequest, SharedQueue, entry_of, invalid,
};
use base::errno::Result;
use base::fail;
use libc::{c_int, c_void};
use rdma_sys::{ibv_ah, ibv_mr, ibv_sge, ibv_wr_opcode};

const NO_ID: &str = "the id is NULL";
const NO_QUEUE_PAIR: &str = "the id has no queue pair: call rdma_create_qp first";
const NO_REGION: &str = "the memory region is NULL: a receive or a read needs one";
const OUTSIDE: &str = "the buffer is not inside its memory region";

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
    let id = unsafe { id.as_ref() }.ok_or_else(|| fail!(EINVAL, "the id is NULL"))?;
    if id.pd.is_null() {
        return Err(fail!(
            EINVAL,
            "rdma_reg_msgs, rdma_reg_read, rdma_reg_write: the id is not bound to a device, so that it has \
             no protection domain"
        ));
    }
    // SAFETY: a live domain, by contract.
    Ok(unsafe { verbs::register(id.pd, address, length, access) }?.as_ptr())
}

/// # Safety
/// `region` is NULL or registered and not used again.
pub(crate) unsafe fn deregister(region: *mut ibv_mr) -> Result<()> {
    if region.is_null() {
        return Err(fail!(EINVAL, "rdma_dereg_mr: the region is NULL"));
    }
    // SAFETY: by contract.
    unsafe { verbs::deregister(region) }
}

/// # Safety
/// `id` is a valid id or NULL; `list` has `count` entries.
#[inline(always)]
pub(crate) unsafe fn post_receive_list(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    list: *mut ibv_sge,
    count: c_int,
) -> Result<()> {
    // SAFETY: by contract.
    unsafe {
        let id = id.as_ref().ok_or_else(|| invalid(NO_ID))?;
        let list = ScatterList::of_caller(list, count)?;
        let queue = match SharedQueue::from_raw(id.srq) {
            Some(queue) => ReceiveQueue::Shared(queue),
            None => {
                ReceiveQueue::Own(QueuePair::from_raw(id.qp).ok_or_else(|| invalid(NO_QUEUE_PAIR))?)
            }
        };
        queue.post(context as u64, list)
    }
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
    let bounds = unsafe { region.as_ref() }.ok_or_else(|| invalid(NO_REGION))?;
    let start =
        (address as usize).checked_sub(bounds.addr as usize).ok_or_else(|| invalid(OUTSIDE))?;
    if start.checked_add(length).is_none_or(|end| end > bounds.length) {
        return Err(invalid(OUTSIDE));
    }
    // SAFETY: by contract.
    unsafe {
        let mut entry = entry_of(address, length, region)?;
        post_receive_list(id, context, &raw mut entry, 1)
    }
}

/// Posts to the id's queue pair.
///
/// # Safety
/// `id` is a valid id or NULL; the list has `count` entries; a datagram's handle is alive.
#[inline(always)]
unsafe fn post(
    id: *mut rdma_cm_id,
    context: *mut c_void,
    (list, count): (*mut ibv_sge, c_int),
    flags: c_int,
    opcode: ibv_wr_opcode::Type,
    remote: Remote,
) -> Result<()> {
    // SAFETY: by contract.
    unsafe {
        let id = id.as_ref().ok_or_else(|| invalid(NO_ID))?;
        let entries = ScatterList::of_caller(list, count)?;
        let queue_pair = QueuePair::from_raw(id.qp).ok_or_else(|| invalid(NO_QUEUE_PAIR))?;
        queue_pair.post_send(&SendRequest {
            wr_id: context as u64,
            entries,
            opcode,
            flags: flags as u32,
            immediate: 0,
            remote,
        })
    }
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
    // SAFETY: by contract.
    unsafe { post(id, context, (list, count), flags, ibv_wr_opcode::IBV_WR_SEND, Remote::Peer) }
}

/// Memory of the peer.
#[derive(Clone, Copy)]
pub(crate) struct RemoteMemory {
    pub(crate) address: u64,
    pub(crate) key: u32,
}

impl From<RemoteMemory> for Remote {
    #[inline]
    fn from(memory: RemoteMemory) -> Remote {
        Remote::Memory { address: memory.address, key: memory.key }
    }
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
    remote: RemoteMemory,
) -> Result<()> {
    let opcode = ibv_wr_opcode::IBV_WR_RDMA_READ;
    // SAFETY: by contract.
    unsafe { post(id, context, (list, count), flags, opcode, remote.into()) }
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
    remote: RemoteMemory,
) -> Result<()> {
    let opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE;
    // SAFETY: by contract.
    unsafe { post(id, context, (list, count), flags, opcode, remote.into()) }
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
        let mut entry = entry_of(buffer.address, buffer.length, buffer.region)?;
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
    remote: RemoteMemory,
) -> Result<()> {
    // A read writes to local memory, which always needs a region.
    if buffer.region.is_null() {
        return Err(invalid(NO_REGION));
    }
    // SAFETY: by contract.
    unsafe {
        let mut entry = entry_of(buffer.address, buffer.length, buffer.region)?;
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
    remote: RemoteMemory,
) -> Result<()> {
    // SAFETY: by contract.
    unsafe {
        let mut entry = entry_of(buffer.address, buffer.length, buffer.region)?;
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
        return Err(invalid("rdma_post_ud_send: the address handle is NULL"));
    }
    let opcode = ibv_wr_opcode::IBV_WR_SEND;
    let remote = Remote::Datagram { handle, number: remote_qpn, key: RDMA_UDP_QKEY };
    // SAFETY: by contract.
    unsafe {
        let mut entry = entry_of(buffer.address, buffer.length, buffer.region)?;
        post(id, context, (&raw mut entry, 1), flags, opcode, remote)
    }
}
