// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Device contexts and protection domains.
//!
//! # Safety
//! The wrappers hold pointers that libibverbs or the caller of our C API made. They are taken from
//! fields of a valid id or from owners in this library, which keep the object alive while it is
//! used.
#![allow(unsafe_code)]

use super::provider::created;
use super::watch::watch;
use base::because;
use base::errno::{Errno, Result};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use rdma_sys::{ibv_context, ibv_device, ibv_device_attr, ibv_gid, ibv_pd, ibv_port_attr};

/// An open device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context(NonNull<ibv_context>);

// SAFETY: libibverbs contexts may be used from any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// # Safety
    /// `device` is a live entry of a device list.
    pub(crate) unsafe fn open(device: *mut ibv_device) -> Result<Context> {
        // SAFETY: by contract.
        let context = created(unsafe { rdma_sys::ibv_open_device(device) })?;
        // SAFETY: opened just now.
        unsafe { watch(context.as_ptr()) };
        Ok(Context(context))
    }

    /// Takes `id->verbs`.
    ///
    /// # Safety
    /// NULL, or open for as long as the wrapper is used.
    pub(crate) unsafe fn from_raw(context: *mut ibv_context) -> Option<Context> {
        NonNull::new(context).map(Context)
    }

    pub(crate) fn as_ptr(self) -> *mut ibv_context {
        self.0.as_ptr()
    }

    /// iWARP devices connect their queue pairs themselves.
    pub(crate) fn is_iwarp(self) -> bool {
        // SAFETY: open context; its device struct lives as long.
        unsafe {
            let device = (*self.0.as_ptr()).device;
            (*device).transport_type == rdma_sys::ibv_transport_type::IBV_TRANSPORT_IWARP
        }
    }

    /// Closes the device.
    ///
    /// # Safety
    /// Nobody uses the context any more.
    pub(crate) unsafe fn close(self) {
        // SAFETY: by contract. A failure leaves nothing that could be done.
        unsafe { rdma_sys::ibv_close_device(self.0.as_ptr()) };
    }

    pub(crate) fn query_device(self) -> Result<ibv_device_attr> {
        let mut attr = MaybeUninit::<ibv_device_attr>::zeroed();
        // SAFETY: open context; the attributes are integers and bytes, valid when zero.
        unsafe {
            Errno::check(rdma_sys::ibv_query_device(self.0.as_ptr(), attr.as_mut_ptr()))
                .map_err(|error| because!(error, "ibv_query_device: the device does not answer"))?;
            Ok(attr.assume_init())
        }
    }

    /// The attributes up to and with the link layer (what the exported function fills).
    pub(crate) fn query_port(self, port: u8) -> Result<ibv_port_attr> {
        let mut attr = MaybeUninit::<ibv_port_attr>::zeroed();
        // SAFETY: as in `query_device`; the library writes a prefix of the struct.
        unsafe {
            Errno::check(rdma_sys::ibv_query_port(self.0.as_ptr(), port, attr.as_mut_ptr().cast()))
                .map_err(|error| because!(error, "ibv_query_port of port {port}"))?;
            Ok(attr.assume_init())
        }
    }

    pub(crate) fn query_gid(self, port: u8, index: i32) -> Result<[u8; 16]> {
        let mut gid = ibv_gid { raw: [0; 16] };
        // SAFETY: open context; every bit pattern is a GID.
        unsafe {
            Errno::check(rdma_sys::ibv_query_gid(self.0.as_ptr(), port, index, &raw mut gid))?;
            Ok(gid.raw)
        }
    }

    pub(crate) fn alloc_pd(self) -> Result<ProtectionDomain> {
        // SAFETY: open context.
        created(unsafe { rdma_sys::ibv_alloc_pd(self.0.as_ptr()) }).map(ProtectionDomain).map_err(
            |error| {
                because!(
                    error,
                    "ibv_alloc_pd: the device has no protection domain left, or no memory"
                )
            },
        )
    }
}

/// A protection domain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProtectionDomain(NonNull<ibv_pd>);

// SAFETY: libibverbs objects may be used from any thread.
unsafe impl Send for ProtectionDomain {}
// SAFETY: as above.
unsafe impl Sync for ProtectionDomain {}

impl ProtectionDomain {
    /// Takes `id->pd` or a caller's domain.
    ///
    /// # Safety
    /// NULL, or alive for as long as the wrapper is used.
    pub(crate) unsafe fn from_raw(pd: *mut ibv_pd) -> Option<ProtectionDomain> {
        NonNull::new(pd).map(ProtectionDomain)
    }

    pub(crate) fn as_ptr(self) -> *mut ibv_pd {
        self.0.as_ptr()
    }

    pub(crate) fn context(self) -> *mut ibv_context {
        // SAFETY: a live domain.
        unsafe { (*self.0.as_ptr()).context }
    }

    /// EBUSY while objects of the application live in it.
    ///
    /// # Safety
    /// On success nobody uses the domain any more.
    pub(crate) unsafe fn dealloc(self) -> Result<()> {
        // SAFETY: by contract.
        Errno::check(unsafe { rdma_sys::ibv_dealloc_pd(self.0.as_ptr()) })
    }
}

/// A protection domain that ends with its owner, after all that is in it.
pub(crate) struct OwnedDomain(ProtectionDomain);

impl OwnedDomain {
    pub(crate) fn alloc(context: Context) -> Result<OwnedDomain> {
        context.alloc_pd().map(OwnedDomain)
    }

    pub(crate) fn get(&self) -> ProtectionDomain {
        self.0
    }
}

impl Drop for OwnedDomain {
    fn drop(&mut self) {
        // SAFETY: nobody has it any more. Where something is left in it, so is the domain.
        let _ = unsafe { self.0.dealloc() };
    }
}
