//! Whole pages, registered with a device. Other heap data never shares a page with what a device
//! writes, so a fork cannot take it from the child.
//!
//! # Safety
//! The pages are mapped here and unmapped after the registration ends. A peer may write them at any
//! time: they are only copied from and to through raw pointers, and nothing that is read is believed.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use crate::verbs::{MemoryRegion, ProtectionDomain};
use rdma_sys::ibv_sge;
use std::ptr::NonNull;

/// See the module text.
pub(super) struct Region {
    // Dropped before the pages go.
    registration: Option<MemoryRegion>,
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: plain memory that every access copies.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    pub(super) fn map(domain: ProtectionDomain, length: usize, access: u32) -> Result<Region> {
        let page = page_size();
        let length = length.max(1).checked_next_multiple_of(page).ok_or(Errno::ENOMEM)?;
        // SAFETY: a fresh anonymous mapping.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let start = NonNull::new(start.cast()).ok_or(Errno::ENOMEM)?;
        let mut region = Region { registration: None, start, length };
        // SAFETY: mapped above, unmapped after the registration is dropped.
        let registration =
            unsafe { MemoryRegion::register(domain, start.as_ptr().cast(), length, access) }?;
        region.registration = Some(registration);
        Ok(region)
    }

    /// The address of a place in it, as the peer or a device names it.
    pub(super) fn address(&self, at: usize) -> u64 {
        self.start.as_ptr() as u64 + at as u64
    }

    pub(super) fn remote_key(&self) -> u32 {
        self.registration.as_ref().map_or(0, MemoryRegion::remote_key)
    }

    /// A scatter entry for a range of it.
    pub(super) fn entry(&self, at: usize, length: u32) -> ibv_sge {
        debug_assert!(at + length as usize <= self.length);
        ibv_sge {
            addr: self.address(at),
            length,
            lkey: self.registration.as_ref().map_or(0, MemoryRegion::local_key),
        }
    }

    /// A pointer to a range of it; NULL for one that lies outside.
    pub(super) fn pointer(&self, at: usize, length: usize) -> *mut u8 {
        match at.checked_add(length) {
            // SAFETY: within the mapping.
            Some(end) if end <= self.length => unsafe { self.start.as_ptr().add(at) },
            _ => std::ptr::null_mut(),
        }
    }

    pub(super) fn write(&self, at: usize, bytes: &[u8]) {
        let to = self.pointer(at, bytes.len());
        if !to.is_null() {
            // SAFETY: within the mapping, which no Rust reference covers.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
    }

    pub(super) fn read<const LENGTH: usize>(&self, at: usize) -> [u8; LENGTH] {
        let from = self.pointer(at, LENGTH);
        if from.is_null() {
            return [0; LENGTH];
        }
        // SAFETY: within the mapping; any bytes are a valid array. Volatile, because a device writes
        // here.
        unsafe { from.cast::<[u8; LENGTH]>().read_volatile() }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.registration = None;
        // SAFETY: mapped by `map` with this length.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

fn page_size() -> usize {
    // SAFETY: no pointers.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
