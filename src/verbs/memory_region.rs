//! Registered memory.
#![allow(unsafe_code)]

use super::{ProtectionDomain, created};
use crate::error::Result;
use libc::{c_int, c_void};
use rdma_sys::ibv_mr;
use std::ptr::NonNull;

/// A registration of this library's making; the memory belongs to somebody else.
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
        // SAFETY: a live domain; libibverbs checks the range.
        created(unsafe { rdma_sys::ibv_reg_mr(domain.as_ptr(), start, length, access as c_int) })
            .map(MemoryRegion)
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
        unsafe { rdma_sys::ibv_dereg_mr(self.0.as_ptr()) };
    }
}
