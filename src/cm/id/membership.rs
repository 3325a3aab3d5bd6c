// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! One multicast group that an id joined, and the table of all memberships.
//!
//! # Safety
//! A membership is leaked when it is published, and freed once, by the call that took it out of its
//! id's list, after its key is retired.
#![allow(unsafe_code)]

use crate::cm::acknowledge::Acknowledgements;
use crate::cm::id_table::{Key, Table};
use crate::types::SocketAddress;
use alloc::boxed::Box;
use base::errno::Result;
use base::lock::Mutex;
use base::memory::try_box;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use libc::c_void;
use rdma_sys::ibv_gid;

/// By the number that the kernel gives back in multicast events.
pub(crate) static MEMBERSHIPS: Table<Membership> = Table::new();

/// See the module text.
pub(crate) struct Membership {
    key: Key,
    id_key: Key,
    context: JoinContext,
    address: SocketAddress,
    join_flags: u32,
    handle: AtomicU32,
    /// A synchronous join that failed: left in the kernel, only its event is still around.
    left: AtomicBool,
    /// Group and LID that the queue pair is attached to.
    pub(crate) attached: Mutex<Option<(ibv_gid, u16)>>,
    acknowledgements: Acknowledgements,
}

/// The caller's pointer, only ever given back.
struct JoinContext(*mut c_void);

// SAFETY: never followed here.
unsafe impl Send for JoinContext {}
// SAFETY: as above.
unsafe impl Sync for JoinContext {}

impl Membership {
    /// Makes a membership and publishes it under a key of its own; the kernel does not know it yet.
    pub(crate) fn publish(
        id_key: Key,
        address: &SocketAddress,
        join_flags: u32,
        context: *mut c_void,
    ) -> Result<&'static Membership> {
        let key = MEMBERSHIPS.reserve()?;
        let membership = try_box(Membership {
            key,
            id_key,
            context: JoinContext(context),
            address: *address,
            join_flags,
            handle: AtomicU32::new(0),
            left: AtomicBool::new(false),
            attached: Mutex::new(None),
            acknowledgements: Acknowledgements::default(),
        });
        let membership: &'static Membership =
            Box::leak(membership.inspect_err(|_| MEMBERSHIPS.retire(key))?);
        // SAFETY: leaked, freed after retirement.
        unsafe { MEMBERSHIPS.publish(key, NonNull::from(membership)) };
        Ok(membership)
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    pub(crate) fn id_key(&self) -> u64 {
        self.id_key.raw()
    }

    pub(crate) fn context(&self) -> *mut c_void {
        self.context.0
    }

    pub(crate) fn join_flags(&self) -> u32 {
        self.join_flags
    }

    /// The kernel's number.
    pub(crate) fn handle(&self) -> u32 {
        self.handle.load(Ordering::Relaxed)
    }

    pub(crate) fn set_handle(&self, handle: u32) {
        self.handle.store(handle, Ordering::Relaxed);
    }

    pub(crate) fn set_left(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    /// Whether it is a membership of this group that can be left.
    pub(crate) fn is_in(&self, address: &SocketAddress) -> bool {
        self.address.is_same(address) && !self.left.load(Ordering::Relaxed)
    }

    /// One more event of this membership is acknowledged.
    pub(crate) fn acknowledge(&self) {
        self.acknowledgements.add();
    }

    /// See `Acknowledgements::wait_for`.
    pub(crate) fn wait_for_acknowledgements(&self, reported: u32, caller: &str) -> Result<()> {
        self.acknowledgements.wait_for(reported, caller)
    }

    /// Waits for the events that hold the membership, then frees it.
    ///
    /// # Safety
    /// In no list, and not used again by the caller.
    pub(crate) unsafe fn free(&'static self) {
        MEMBERSHIPS.retire(self.key);
        // SAFETY: leaked by `publish`; its key is retired, so no event holds it.
        drop(unsafe { Box::from_raw((&raw const *self).cast_mut()) });
    }

    /// As `free`, without waiting: a membership that an event still holds is left behind.
    ///
    /// # Safety
    /// As `free`.
    pub(crate) unsafe fn free_unless_held(&'static self) {
        if MEMBERSHIPS.try_retire(self.key) {
            // SAFETY: as in `free`.
            drop(unsafe { Box::from_raw((&raw const *self).cast_mut()) });
        }
    }
}
