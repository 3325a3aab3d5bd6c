// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Registered memory.
//!
//! # Safety
//! The wrappers hold pointers that libibverbs or the caller of our C API made. They are taken from
//! fields of a valid id or from owners in this library, which keep the object alive while it is
//! used.
#![allow(unsafe_code)]

use super::context::ProtectionDomain;
use super::locked_memory::Shortage;
use super::provider::created;
use base::because;
use base::errno::{Errno, Result};
use core::ptr::NonNull;
use libc::{c_int, c_void};
use rdma_sys::{ibv_access_flags, ibv_mr, ibv_pd};

/// Access rights of a registration.
pub(crate) const LOCAL: u32 = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0;
pub(crate) const REMOTE_READ: u32 = LOCAL | ibv_access_flags::IBV_ACCESS_REMOTE_READ.0;
pub(crate) const REMOTE_WRITE: u32 = LOCAL | ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0;

/// Registers `length` bytes at `start`.
///
/// # Safety
/// A live domain; the memory stays mapped as long as the region lives.
pub(crate) unsafe fn register(
    domain: *mut ibv_pd,
    start: *mut c_void,
    length: usize,
    access: u32,
) -> Result<NonNull<ibv_mr>> {
    // SAFETY: by contract; libibverbs checks the range.
    created(unsafe { rdma_sys::ibv_reg_mr(domain, start, length, access as c_int) })
        .map_err(|error| refused(error, start, length, access))
}

#[cold]
#[inline(never)]
fn refused(error: Errno, start: *mut c_void, length: usize, access: u32) -> Errno {
    match error {
        Errno::ENOMEM => because!(
            error,
            "ibv_reg_mr of {length} bytes at {start:?}: {}",
            Shortage { start: start.addr(), length }
        ),
        Errno::EFAULT => because!(
            error,
            "ibv_reg_mr of {length} bytes at {start:?}: not all of it is mapped, or it is read-only and \
             access {access:#x} wants to write"
        ),
        Errno::EINVAL => because!(
            error,
            "ibv_reg_mr of {length} bytes at {start:?}: access {access:#x} is not allowed (remote write \
             needs local write), or the length is 0 or too large for the device"
        ),
        _ => because!(error, "ibv_reg_mr of {length} bytes at {start:?}, access {access:#x}"),
    }
}

/// # Safety
/// A live region, not used again.
pub(crate) unsafe fn deregister(region: *mut ibv_mr) -> Result<()> {
    // SAFETY: by contract.
    Errno::check(unsafe { rdma_sys::ibv_dereg_mr(region) })
        .map_err(|error| because!(error, "ibv_dereg_mr: the region is in use"))
}

/// A registration by this library; the memory belongs to its caller.
pub(crate) struct MemoryRegion(NonNull<ibv_mr>);

// SAFETY: libibverbs objects may be used from any thread.
unsafe impl Send for MemoryRegion {}
// SAFETY: as above.
unsafe impl Sync for MemoryRegion {}

impl MemoryRegion {
    /// Registers `length` bytes at `start`.
    ///
    /// # Safety
    /// The memory stays mapped as long as the region lives.
    pub(crate) unsafe fn register(
        domain: ProtectionDomain,
        start: *mut c_void,
        length: usize,
        access: u32,
    ) -> Result<MemoryRegion> {
        // SAFETY: by contract.
        unsafe { register(domain.as_ptr(), start, length, access) }.map(MemoryRegion)
    }

    /// Ends it; an error where the device may still have it.
    pub(crate) fn end(self) -> Result<()> {
        let region = self.0.as_ptr();
        core::mem::forget(self);
        // SAFETY: ours.
        unsafe { deregister(region) }
    }

    pub(crate) fn local_key(&self) -> u32 {
        // SAFETY: a live region.
        unsafe { self.0.as_ref() }.lkey
    }

    pub(crate) fn remote_key(&self) -> u32 {
        // SAFETY: a live region.
        unsafe { self.0.as_ref() }.rkey
    }
}

impl Drop for MemoryRegion {
    fn drop(&mut self) {
        // SAFETY: ours. A failure leaves nothing that could be done.
        let _ = unsafe { deregister(self.0.as_ptr()) };
    }
}
