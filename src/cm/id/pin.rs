// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Keeps `id->qp` alive while one thread uses it and another one may call rdma_destroy_qp.
//!
//! # Safety
//! The public field is read and written under the lock; a pinned queue pair is not destroyed.
#![allow(unsafe_code)]

use crate::verbs::QueuePair;
use base::lock::{Condvar, Mutex};
use core::ops::Deref;
use rdma_sys::ibv_qp;

/// The users of one queue pair.
#[derive(Default)]
pub(super) struct Pins {
    pinned: Mutex<Pinned>,
    none_left: Condvar,
}

#[derive(Default)]
struct Pinned {
    users: u32,
    /// By rdma_create_qp, which has moved it to INIT.
    is_made: bool,
}

/// The queue pair of an id, safe from rdma_destroy_qp until dropped.
pub(crate) struct PinnedQueuePair<'a> {
    pins: &'a Pins,
    queue_pair: QueuePair,
    is_made: bool,
}

impl PinnedQueuePair<'_> {
    /// Whether rdma_create_qp has made it, and moved it to INIT.
    pub(crate) fn is_made(&self) -> bool {
        self.is_made
    }
}

impl Deref for PinnedQueuePair<'_> {
    type Target = QueuePair;

    fn deref(&self) -> &QueuePair {
        &self.queue_pair
    }
}

impl Drop for PinnedQueuePair<'_> {
    fn drop(&mut self) {
        let mut pinned = self.pins.pinned.lock();
        pinned.users -= 1;
        if pinned.users == 0 {
            self.pins.none_left.notify_all();
        }
    }
}

impl Pins {
    /// The queue pair that `field` names, if there is one.
    ///
    /// # Safety
    /// `field` is `id->qp` of a valid id, always the same one for these pins.
    pub(super) unsafe fn pin(&self, field: *const *mut ibv_qp) -> Option<PinnedQueuePair<'_>> {
        let mut pinned = self.pinned.lock();
        // SAFETY: by contract; the queue pair is alive while the field names it.
        let queue_pair = unsafe { QueuePair::from_raw(*field) }?;
        pinned.users += 1;
        Some(PinnedQueuePair { pins: self, queue_pair, is_made: pinned.is_made })
    }

    /// As `pin`, for a `read` that keeps nothing of it.
    ///
    /// # Safety
    /// As `pin`.
    pub(super) unsafe fn read<R>(
        &self,
        field: *const *mut ibv_qp,
        read: impl FnOnce(QueuePair) -> R,
    ) -> Option<R> {
        let _pinned = self.pinned.lock();
        // SAFETY: by contract, as in `pin`.
        unsafe { QueuePair::from_raw(*field) }.map(read)
    }

    /// One that rdma_create_qp has made.
    ///
    /// # Safety
    /// As `pin`.
    pub(super) unsafe fn set(&self, field: *mut *mut ibv_qp, queue_pair: QueuePair) {
        let mut pinned = self.pinned.lock();
        pinned.is_made = true;
        // SAFETY: by contract.
        unsafe { *field = queue_pair.as_ptr() };
    }

    /// Takes the queue pair out of the field and waits until it has no users.
    ///
    /// # Safety
    /// As `pin`.
    pub(super) unsafe fn take(&self, field: *mut *mut ibv_qp) -> Option<QueuePair> {
        let mut pinned = self.pinned.lock();
        // SAFETY: by contract, as in `pin`.
        let taken =
            unsafe { QueuePair::from_raw(core::mem::replace(&mut *field, core::ptr::null_mut())) }?;
        pinned.is_made = false;
        while pinned.users > 0 {
            self.none_left.wait(&mut pinned);
        }
        Some(taken)
    }
}
