// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Shared receive queues and XRC domains.
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
use core::ptr::NonNull;
use rdma_sys::{
    ibv_srq, ibv_srq_init_attr_ex, ibv_srq_init_attr_mask as mask, ibv_srq_type, ibv_xrcd,
    ibv_xrcd_init_attr, ibv_xrcd_init_attr_mask,
};

/// An XRC domain; always a new one, not shared with other processes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct XrcDomain(NonNull<ibv_xrcd>);

// SAFETY: libibverbs objects may be used from any thread.
unsafe impl Send for XrcDomain {}
// SAFETY: as above.
unsafe impl Sync for XrcDomain {}

impl XrcDomain {
    pub(crate) fn open(context: Context) -> Result<XrcDomain> {
        let mut attr = ibv_xrcd_init_attr {
            comp_mask: (ibv_xrcd_init_attr_mask::IBV_XRCD_INIT_ATTR_FD
                | ibv_xrcd_init_attr_mask::IBV_XRCD_INIT_ATTR_OFLAGS)
                .0,
            fd: -1,
            oflags: libc::O_CREAT,
        };
        // SAFETY: open context; the operation is the provider's.
        unsafe {
            let open = extended!(context, open_xrcd)
                .ok_or_else(|| fail!(EOPNOTSUPP, "the device's provider has no XRC domains"))?;
            created(open(context.as_ptr(), &mut attr)).map(XrcDomain).map_err(|error| {
                because!(error, "ibv_open_xrcd: the device has no XRC domain left")
            })
        }
    }

    pub(crate) fn as_ptr(self) -> *mut ibv_xrcd {
        self.0.as_ptr()
    }

    /// EBUSY while queues are left in it.
    ///
    /// # Safety
    /// On success nobody uses the domain any more.
    pub(crate) unsafe fn close(self) -> Result<()> {
        // SAFETY: by contract; a domain that was opened has a provider that closes it.
        unsafe {
            let context = Context::from_raw((*self.0.as_ptr()).context).ok_or(Errno::EINVAL)?;
            let close = extended!(context, close_xrcd).ok_or(Errno::EOPNOTSUPP)?;
            Errno::check(close(self.0.as_ptr()))
        }
    }
}

#[cold]
#[inline(never)]
fn not_made(context: Context, attr: &ibv_srq_init_attr_ex, error: Errno) -> Errno {
    let (requests, entries) =
        context.query_device().map_or((0, 0), |device| (device.max_srq_wr, device.max_srq_sge));
    because!(
        error,
        "ibv_create_srq with {} receives (the device takes {requests}) of {} entries ({entries}): ask for \
         less",
        attr.attr.max_wr,
        attr.attr.max_sge
    )
}

/// A queue of receives that several queue pairs take from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedQueue(NonNull<ibv_srq>);

impl SharedQueue {
    /// # Safety
    /// `attr` has a live domain, and live others where its mask names them.
    pub(crate) unsafe fn create(
        context: Context,
        attr: &mut ibv_srq_init_attr_ex,
    ) -> Result<SharedQueue> {
        let beyond_basic =
            attr.comp_mask & !(mask::IBV_SRQ_INIT_ATTR_TYPE | mask::IBV_SRQ_INIT_ATTR_PD).0 != 0;
        if attr.srq_type == ibv_srq_type::IBV_SRQT_BASIC && !beyond_basic {
            let pd = attr.pd;
            // SAFETY: by contract; the extended struct starts with the basic one.
            return created(unsafe {
                rdma_sys::ibv_create_srq(pd, core::ptr::from_mut(attr).cast())
            })
            .map(SharedQueue)
            .map_err(|error| not_made(context, attr, error));
        }
        // SAFETY: open context; the operation is the provider's.
        unsafe {
            let create = extended!(context, create_srq_ex).ok_or_else(|| {
                fail!(EOPNOTSUPP, "the device's provider has no ibv_create_srq_ex")
            })?;
            created(create(context.as_ptr(), attr))
                .map(SharedQueue)
                .map_err(|error| not_made(context, attr, error))
        }
    }

    /// # Safety
    /// NULL, or alive for as long as the wrapper is used.
    pub(crate) unsafe fn from_raw(queue: *mut ibv_srq) -> Option<SharedQueue> {
        NonNull::new(queue).map(SharedQueue)
    }

    pub(crate) fn as_ptr(self) -> *mut ibv_srq {
        self.0.as_ptr()
    }

    /// # Safety
    /// Nobody uses it any more.
    pub(crate) unsafe fn destroy(self) -> Result<()> {
        // SAFETY: by contract.
        Errno::check(unsafe { rdma_sys::ibv_destroy_srq(self.0.as_ptr()) })
    }
}
