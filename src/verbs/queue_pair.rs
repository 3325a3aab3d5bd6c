//! Queue pairs.
#![allow(unsafe_code)]

use super::created;
use crate::error::{Errno, Result};
use libc::c_int;
use rdma_sys::{
    ibv_ece, ibv_gid, ibv_qp, ibv_qp_attr, ibv_qp_attr_mask, ibv_qp_init_attr_ex,
    ibv_qp_init_attr_mask, ibv_qp_state, ibv_qp_type,
};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

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

impl QueuePair {
    /// # Safety
    /// NULL, or alive for as long as the wrapper is used.
    pub(crate) unsafe fn from_raw(qp: *mut ibv_qp) -> Option<QueuePair> {
        NonNull::new(qp).map(QueuePair)
    }

    pub(crate) fn as_ptr(self) -> *mut ibv_qp {
        self.0.as_ptr()
    }

    /// Makes a queue pair; `attr` comes back with the granted sizes.
    ///
    /// # Safety
    /// `attr` has a live domain and live queues of the device.
    pub(crate) unsafe fn create_extended(
        context: super::Context,
        attr: &mut ibv_qp_init_attr_ex,
    ) -> Result<QueuePair> {
        if attr.comp_mask == ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0 {
            let pd = attr.pd;
            // SAFETY: by contract; the extended struct starts with the basic one.
            return created(unsafe {
                rdma_sys::ibv_create_qp(pd, std::ptr::from_mut(attr).cast())
            })
            .map(QueuePair);
        }
        // SAFETY: open context; the operation is the provider's.
        unsafe {
            let create = extended!(context, create_qp_ex).ok_or(Errno::EOPNOTSUPP)?;
            created(create(context.as_ptr(), attr)).map(QueuePair)
        }
    }

    pub(crate) fn modify(self, attr: &mut ibv_qp_attr, mask: u32) -> Result<()> {
        // SAFETY: a live queue pair.
        Errno::check(unsafe { rdma_sys::ibv_modify_qp(self.0.as_ptr(), attr, mask as c_int) })
    }

    /// Moves it to the error state, which flushes its work requests.
    pub(crate) fn fail(self) -> Result<()> {
        let mut attr = zeroed_attr();
        attr.qp_state = ibv_qp_state::IBV_QPS_ERR;
        self.modify(&mut attr, ibv_qp_attr_mask::IBV_QP_STATE.0)
    }

    /// # Safety
    /// Nobody uses it any more.
    pub(crate) unsafe fn destroy(self) -> Result<()> {
        // SAFETY: by contract.
        Errno::check(unsafe { rdma_sys::ibv_destroy_qp(self.0.as_ptr()) })
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
        Errno::check(unsafe { rdma_sys::ibv_attach_mcast(self.0.as_ptr(), group, lid) })
    }

    pub(crate) fn detach(self, group: &ibv_gid, lid: u16) -> Result<()> {
        // SAFETY: a live queue pair.
        Errno::check(unsafe { rdma_sys::ibv_detach_mcast(self.0.as_ptr(), group, lid) })
    }
}
