// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Posting work requests: the one place that builds them, for rsockets and for the exported
//! helpers.
//!
//! The hottest path of the library: the request on the stack, the provider's own function. No lock,
//! no allocation; what fails is out of line (`benches/run helpers` counts the instructions).
//!
//! # Safety
//! The wrappers hold pointers that libibverbs or the caller of our C API made. They are taken from
//! fields of a valid id or from owners in this library, which keep the object alive while it is
//! used.
#![allow(unsafe_code)]

use super::provider::{invalid, unsupported};
use super::queue_pair::QueuePair;
use super::shared_queue::SharedQueue;
use base::errno::{Errno, Result};
use core::hint::black_box;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use libc::{c_int, c_void};
use rdma_sys::{ibv_ah, ibv_mr, ibv_recv_wr, ibv_send_wr, ibv_sge, ibv_wr_opcode};

/// The buffers of a work request.
#[derive(Clone, Copy)]
pub(crate) struct ScatterList<'a> {
    first: *mut ibv_sge,
    count: c_int,
    entries: PhantomData<&'a [ibv_sge]>,
}

impl<'a> From<&'a [ibv_sge]> for ScatterList<'a> {
    #[inline]
    fn from(entries: &'a [ibv_sge]) -> ScatterList<'a> {
        let first = entries.as_ptr().cast_mut();
        ScatterList { first, count: entries.len() as c_int, entries: PhantomData }
    }
}

impl<'a, const COUNT: usize> From<&'a [ibv_sge; COUNT]> for ScatterList<'a> {
    #[inline]
    fn from(entries: &'a [ibv_sge; COUNT]) -> ScatterList<'a> {
        entries.as_slice().into()
    }
}

impl ScatterList<'_> {
    /// A caller's list. An empty one may be NULL.
    ///
    /// # Safety
    /// `first` has `count` entries for as long as the list is used.
    #[inline]
    pub(crate) unsafe fn of_caller(first: *mut ibv_sge, count: c_int) -> Result<Self> {
        // A list that is not empty pays one comparison for the empty ones.
        if count < 0 || (first.is_null() && black_box(count) != 0) {
            return Err(invalid("the scatter list is NULL or its count is negative"));
        }
        Ok(ScatterList { first, count, entries: PhantomData })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A caller's buffer as a scatter list entry. Inline data needs no region.
///
/// # Safety
/// `region` is NULL or registered.
#[inline]
pub(crate) unsafe fn entry_of(
    address: *mut c_void,
    length: usize,
    region: *const ibv_mr,
) -> Result<ibv_sge> {
    let length = u32::try_from(length)
        .map_err(|_| invalid("a buffer of one work request is 4 GiB or longer"))?;
    // SAFETY: by contract.
    let lkey = unsafe { region.as_ref() }.map_or(0, |region| region.lkey);
    Ok(ibv_sge { addr: address as u64, length, lkey })
}

/// Where a send, read or write goes, beyond the queue pair.
#[derive(Clone, Copy)]
pub(crate) enum Remote {
    /// The peer of a connected queue pair, no memory of it.
    Peer,
    Memory {
        address: u64,
        key: u32,
    },
    Datagram {
        handle: *mut ibv_ah,
        number: u32,
        key: u32,
    },
}

/// One send, read or write.
#[derive(Clone, Copy)]
pub(crate) struct SendRequest<'a> {
    pub(crate) wr_id: u64,
    pub(crate) entries: ScatterList<'a>,
    pub(crate) opcode: ibv_wr_opcode::Type,
    pub(crate) flags: u32,
    /// In host order; only for opcodes with immediate data.
    pub(crate) immediate: u32,
    pub(crate) remote: Remote,
}

impl QueuePair {
    /// Posts one request.
    ///
    /// # Safety
    /// The entries name registered (or, with the inline flag, readable) memory that stays until the
    /// request has completed; an address handle is alive.
    #[inline(always)]
    pub(crate) unsafe fn post_send(self, request: &SendRequest<'_>) -> Result<()> {
        let mut raw = MaybeUninit::<ibv_send_wr>::uninit();
        let raw = raw.as_mut_ptr();
        let mut bad = MaybeUninit::uninit();
        let with_immediate = request.opcode == ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM
            || request.opcode == ibv_wr_opcode::IBV_WR_SEND_WITH_IMM;
        // SAFETY: a provider reads the fields that the opcode uses, which are written here, and the
        // entries; the other fields are integers, for which any bytes do. A live queue pair has a
        // context with its operations.
        let returned = unsafe {
            (*raw).wr_id = request.wr_id;
            (*raw).next = core::ptr::null_mut();
            (*raw).sg_list = request.entries.first;
            (*raw).num_sge = request.entries.count;
            (*raw).opcode = request.opcode;
            (*raw).send_flags = request.flags;
            if with_immediate {
                (*raw).imm_data_invalidated_rkey_union.imm_data = request.immediate.to_be();
            }
            match request.remote {
                Remote::Peer => {}
                Remote::Memory { address, key } => {
                    (*raw).wr.rdma.remote_addr = address;
                    (*raw).wr.rdma.rkey = key;
                }
                Remote::Datagram { handle, number, key } => {
                    (*raw).wr.ud.ah = handle;
                    (*raw).wr.ud.remote_qpn = number;
                    (*raw).wr.ud.remote_qkey = key;
                }
            }
            let post = (*(*self.as_ptr()).context).ops.post_send.ok_or_else(unsupported)?;
            post(self.as_ptr(), raw, bad.as_mut_ptr())
        };
        Errno::check(returned)
    }
}

/// Where a receive is posted.
#[derive(Clone, Copy)]
pub(crate) enum ReceiveQueue {
    Own(QueuePair),
    Shared(SharedQueue),
}

impl ReceiveQueue {
    /// Posts one receive.
    ///
    /// # Safety
    /// As `QueuePair::post_send`.
    #[inline(always)]
    pub(crate) unsafe fn post(self, wr_id: u64, entries: ScatterList<'_>) -> Result<()> {
        let mut request = ibv_recv_wr {
            wr_id,
            next: core::ptr::null_mut(),
            sg_list: entries.first,
            num_sge: entries.count,
        };
        let mut bad = MaybeUninit::uninit();
        // SAFETY: as in `post_send`; a live queue has a context with its operations.
        let returned = unsafe {
            match self {
                ReceiveQueue::Shared(queue) => {
                    let queue = queue.as_ptr();
                    let post = (*(*queue).context).ops.post_srq_recv.ok_or_else(unsupported)?;
                    post(queue, &raw mut request, bad.as_mut_ptr())
                }
                ReceiveQueue::Own(queue_pair) => {
                    let queue_pair = queue_pair.as_ptr();
                    let post = (*(*queue_pair).context).ops.post_recv.ok_or_else(unsupported)?;
                    post(queue_pair, &raw mut request, bad.as_mut_ptr())
                }
            }
        };
        Errno::check(returned)
    }
}

impl QueuePair {
    /// Posts one receive to its own queue.
    ///
    /// # Safety
    /// As `post_send`.
    #[inline]
    pub(crate) unsafe fn post_receive(self, wr_id: u64, entries: ScatterList<'_>) -> Result<()> {
        // SAFETY: by contract.
        unsafe { ReceiveQueue::Own(self).post(wr_id, entries) }
    }
}
