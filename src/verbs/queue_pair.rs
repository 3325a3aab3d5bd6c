// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Queue pairs.
//!
//! # Safety
//! The wrappers hold pointers that libibverbs or the caller of our C API made. They are taken from
//! fields of a valid id or from owners in this library, which keep the object alive while it is
//! used.
#![allow(unsafe_code)]

use super::context::Context;
use super::provider::{created, extended};
use base::errno::{Errno, Result};
use base::{because, fail};
use core::fmt::Display;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use libc::c_int;
use rdma_sys::{
    ibv_ece, ibv_gid, ibv_qp, ibv_qp_attr, ibv_qp_attr_mask, ibv_qp_init_attr_ex,
    ibv_qp_init_attr_mask, ibv_qp_state, ibv_qp_type,
};

/// A queue pair of the library's or of the caller's making.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueuePair(NonNull<ibv_qp>);

// SAFETY: libibverbs objects may be used from any thread.
unsafe impl Send for QueuePair {}
// SAFETY: as above.
unsafe impl Sync for QueuePair {}

/// Attributes with every field zero.
pub(crate) fn zeroed_attr() -> ibv_qp_attr {
    // SAFETY: integers, C enums as integers and unions of integers: valid when zero.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

#[cold]
#[inline(never)]
fn not_made(
    context: Context,
    attr: &ibv_qp_init_attr_ex,
    error: Errno,
    about: &impl Display,
) -> Errno {
    let (requests, entries) =
        context.query_device().map_or((0, 0), |device| (device.max_qp_wr, device.max_sge));
    let cap = &attr.cap;
    because!(
        error,
        about,
        "ibv_create_qp of type {} with {}+{} work requests (the device takes {requests}), {}+{} entries \
         each ({entries}), {} bytes inline: ask for less, free queue pairs, or raise RLIMIT_MEMLOCK",
        attr.qp_type,
        cap.max_send_wr,
        cap.max_recv_wr,
        cap.max_send_sge,
        cap.max_recv_sge,
        cap.max_inline_data
    )
}

fn state_name(state: ibv_qp_state::Type) -> &'static str {
    match state {
        ibv_qp_state::IBV_QPS_RESET => "RESET",
        ibv_qp_state::IBV_QPS_INIT => "INIT",
        ibv_qp_state::IBV_QPS_RTR => "RTR",
        ibv_qp_state::IBV_QPS_RTS => "RTS",
        ibv_qp_state::IBV_QPS_SQD => "SQD",
        ibv_qp_state::IBV_QPS_ERR => "ERR",
        _ => "another state",
    }
}

/// Bytes of an `enum ibv_mtu`.
fn mtu_bytes(mtu: u32) -> u32 {
    128_u32.checked_shl(mtu).filter(|_| (1..=5).contains(&mtu)).unwrap_or(0)
}

impl QueuePair {
    /// # Safety
    /// NULL, or alive for as long as the wrapper is used.
    pub(crate) unsafe fn from_raw(qp: *mut ibv_qp) -> Option<QueuePair> {
        NonNull::new(qp).map(QueuePair)
    }

    pub(crate) fn as_ptr(self) -> *mut ibv_qp {
        self.0.as_ptr()
    }

    /// Makes a queue pair for `about`; `attr` comes back with the granted sizes.
    ///
    /// # Safety
    /// `attr` has a live domain and live queues of the device.
    pub(crate) unsafe fn create_extended(
        context: Context,
        attr: &mut ibv_qp_init_attr_ex,
        about: &impl Display,
    ) -> Result<QueuePair> {
        if attr.comp_mask == ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0 {
            let pd = attr.pd;
            // SAFETY: by contract; the extended struct starts with the basic one.
            return created(unsafe {
                rdma_sys::ibv_create_qp(pd, core::ptr::from_mut(attr).cast())
            })
            .map(QueuePair)
            .map_err(|error| not_made(context, attr, error, about));
        }
        // SAFETY: open context; the operation is the provider's.
        unsafe {
            let create = extended!(context, create_qp_ex).ok_or_else(|| {
                fail!(EOPNOTSUPP, about, "the device's provider has no ibv_create_qp_ex")
            })?;
            created(create(context.as_ptr(), attr))
                .map(QueuePair)
                .map_err(|error| not_made(context, attr, error, about))
        }
    }

    /// Moves the queue pair of `about`.
    pub(crate) fn modify(
        self,
        attr: &mut ibv_qp_attr,
        mask: u32,
        about: &impl Display,
    ) -> Result<()> {
        self.modify_in_silence(attr, mask).map_err(|error| self.not_moved(attr, mask, error, about))
    }

    fn modify_in_silence(self, attr: &mut ibv_qp_attr, mask: u32) -> Result<()> {
        // SAFETY: a live queue pair.
        Errno::check(unsafe { rdma_sys::ibv_modify_qp(self.0.as_ptr(), attr, mask as c_int) })
    }

    #[cold]
    #[inline(never)]
    fn not_moved(self, attr: &ibv_qp_attr, mask: u32, error: Errno, about: &impl Display) -> Errno {
        let state = state_name(attr.qp_state);
        because!(
            error,
            about,
            "ibv_modify_qp of queue pair {} to {state} (mask {mask:#x}): max_rd_atomic {}, \
             max_dest_rd_atomic {}, path MTU {}, GID index {} of port {}; another state than expected, or \
             what the device does not know",
            self.number(),
            attr.max_rd_atomic,
            attr.max_dest_rd_atomic,
            mtu_bytes(attr.path_mtu),
            attr.ah_attr.grh.sgid_index,
            attr.port_num.max(attr.ah_attr.port_num)
        )
    }

    /// Moves it to the error state, which flushes its work requests. It may be in that state already,
    /// so a failure is no line of the log by itself.
    pub(crate) fn fail(self) -> Result<()> {
        let mut attr = zeroed_attr();
        attr.qp_state = ibv_qp_state::IBV_QPS_ERR;
        self.modify_in_silence(&mut attr, ibv_qp_attr_mask::IBV_QP_STATE.0)
    }

    /// # Safety
    /// Nobody uses it any more.
    pub(crate) unsafe fn destroy(self, about: &impl Display) -> Result<()> {
        // SAFETY: by contract.
        Errno::check(unsafe { rdma_sys::ibv_destroy_qp(self.0.as_ptr()) }).map_err(|error| {
            because!(
                error,
                about,
                "ibv_destroy_qp: the queue pair is in use (ibv_detach_mcast, ibv_destroy_flow)"
            )
        })
    }

    pub(crate) fn number(self) -> u32 {
        // SAFETY: a live queue pair.
        unsafe { (*self.0.as_ptr()).qp_num }
    }

    pub(crate) fn kind(self) -> ibv_qp_type::Type {
        // SAFETY: a live queue pair.
        unsafe { (*self.0.as_ptr()).qp_type }
    }

    pub(crate) fn has_shared_queue(self) -> bool {
        // SAFETY: a live queue pair.
        unsafe { !(*self.0.as_ptr()).srq.is_null() }
    }

    pub(crate) fn set_ece(self, ece: &mut ibv_ece) -> Result<()> {
        // SAFETY: a live queue pair.
        Errno::check(unsafe { rdma_sys::ibv_set_ece(self.0.as_ptr(), ece) })
    }

    pub(crate) fn query_ece(self) -> Result<ibv_ece> {
        let mut ece = ibv_ece { vendor_id: 0, options: 0, comp_mask: 0 };
        // SAFETY: a live queue pair.
        Errno::check(unsafe { rdma_sys::ibv_query_ece(self.0.as_ptr(), &mut ece) })?;
        Ok(ece)
    }

    pub(crate) fn attach(self, group: &ibv_gid, lid: u16) -> Result<()> {
        // SAFETY: a live queue pair.
        Errno::check(unsafe { rdma_sys::ibv_attach_mcast(self.0.as_ptr(), group, lid) }).map_err(|error| {
            because!(
                error,
                "ibv_attach_mcast of queue pair {}: its type is not IBV_QPT_UD, or the device takes no \
                 more groups",
                self.number()
            )
        })
    }

    pub(crate) fn detach(self, group: &ibv_gid, lid: u16) -> Result<()> {
        // SAFETY: a live queue pair.
        Errno::check(unsafe { rdma_sys::ibv_detach_mcast(self.0.as_ptr(), group, lid) })
    }
}
