// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Pages that are registered with a device.
//!
//! # Safety
//! The pages outlive the registration. A peer may write them at any time: they are only copied from
//! and to through raw pointers, and nothing that is read is trusted.
#![allow(unsafe_code)]

use super::pages::Pages;
use crate::verbs::{MemoryRegion, ProtectionDomain};
use base::errno::Result;
use rdma_sys::ibv_sge;

/// See the module text.
pub(crate) struct Region {
    // Dropped before the pages go.
    registration: MemoryRegion,
    pages: Pages,
}

impl Region {
    /// Fresh pages, registered.
    pub(crate) fn map(domain: ProtectionDomain, length: usize, access: u32) -> Result<Region> {
        Region::register(domain, Pages::map(length)?, access)
    }

    pub(crate) fn register(domain: ProtectionDomain, pages: Pages, access: u32) -> Result<Region> {
        // SAFETY: the pages are unmapped after the registration is dropped.
        let registration = unsafe {
            MemoryRegion::register(domain, pages.start().cast(), pages.length(), access)
        }?;
        Ok(Region { registration, pages })
    }

    /// The pages, which no device writes to any more; an error where that is not certain.
    pub(crate) fn into_pages(self) -> Result<Pages> {
        self.registration.end()?;
        Ok(self.pages)
    }

    pub(crate) fn length(&self) -> usize {
        self.pages.length()
    }

    /// The address of an offset in it, for the peer or a device.
    pub(crate) fn address(&self, at: usize) -> u64 {
        self.pages.start() as u64 + at as u64
    }

    pub(crate) fn remote_key(&self) -> u32 {
        self.registration.remote_key()
    }

    /// A scatter entry for a range of it.
    pub(crate) fn entry(&self, at: usize, length: u32) -> ibv_sge {
        debug_assert!(at + length as usize <= self.length());
        ibv_sge { addr: self.address(at), length, lkey: self.registration.local_key() }
    }

    /// A pointer to a range of it; NULL for one that lies outside.
    pub(crate) fn pointer(&self, at: usize, length: usize) -> *mut u8 {
        match at.checked_add(length) {
            // SAFETY: within the mapping.
            Some(end) if end <= self.length() => unsafe { self.pages.start().add(at) },
            _ => core::ptr::null_mut(),
        }
    }

    pub(crate) fn write(&self, at: usize, bytes: &[u8]) {
        let to = self.pointer(at, bytes.len());
        if !to.is_null() {
            // SAFETY: within the mapping, which no Rust reference covers.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
    }

    pub(crate) fn read<const LENGTH: usize>(&self, at: usize) -> [u8; LENGTH] {
        let from = self.pointer(at, LENGTH);
        if from.is_null() {
            return [0; LENGTH];
        }
        // SAFETY: within the mapping; any bytes are a valid array. Volatile, because a device
        // writes here.
        unsafe { from.cast::<[u8; LENGTH]>().read_volatile() }
    }
}
