//! Shared receive queues and XRC domains.
#![allow(unsafe_code)]

use super::{Context, created};
use crate::error::{Errno, Result};
use rdma_sys::{
    ibv_srq, ibv_srq_init_attr_ex, ibv_srq_init_attr_mask as mask, ibv_srq_type, ibv_xrcd,
    ibv_xrcd_init_attr, ibv_xrcd_init_attr_mask,
};
use std::ptr::NonNull;

/// A domain that XRC queues of several processes can share; here always a fresh one.
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
            let open = extended!(context, open_xrcd).ok_or(Errno::EOPNOTSUPP)?;
            created(open(context.as_ptr(), &mut attr)).map(XrcDomain)
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
                rdma_sys::ibv_create_srq(pd, std::ptr::from_mut(attr).cast())
            })
            .map(SharedQueue);
        }
        // SAFETY: open context; the operation is the provider's.
        unsafe {
            let create = extended!(context, create_srq_ex).ok_or(Errno::EOPNOTSUPP)?;
            created(create(context.as_ptr(), attr)).map(SharedQueue)
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
