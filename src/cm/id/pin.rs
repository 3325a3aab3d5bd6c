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

/// Counts the users of one queue pair.
#[derive(Default)]
pub(super) struct Pins {
    count: Mutex<u32>,
    none_left: Condvar,
}

/// The queue pair of an id, safe from rdma_destroy_qp until dropped.
pub(crate) struct PinnedQueuePair<'a> {
    pins: &'a Pins,
    queue_pair: QueuePair,
}

impl Deref for PinnedQueuePair<'_> {
    type Target = QueuePair;

    fn deref(&self) -> &QueuePair {
        &self.queue_pair
    }
}

impl Drop for PinnedQueuePair<'_> {
    fn drop(&mut self) {
        let mut count = self.pins.count.lock();
        *count -= 1;
        if *count == 0 {
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
        let mut count = self.count.lock();
        // SAFETY: by contract; the queue pair is alive while the field names it.
        let queue_pair = unsafe { QueuePair::from_raw(*field) }?;
        *count += 1;
        Some(PinnedQueuePair { pins: self, queue_pair })
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
        let _count = self.count.lock();
        // SAFETY: by contract, as in `pin`.
        unsafe { QueuePair::from_raw(*field) }.map(read)
    }

    /// # Safety
    /// As `pin`.
    pub(super) unsafe fn set(&self, field: *mut *mut ibv_qp, queue_pair: QueuePair) {
        let _count = self.count.lock();
        // SAFETY: by contract.
        unsafe { *field = queue_pair.as_ptr() };
    }

    /// Takes the queue pair out of the field and waits until it has no users.
    ///
    /// # Safety
    /// As `pin`.
    pub(super) unsafe fn take(&self, field: *mut *mut ibv_qp) -> Option<QueuePair> {
        let mut count = self.count.lock();
        // SAFETY: by contract, as in `pin`.
        let taken =
            unsafe { QueuePair::from_raw(core::mem::replace(&mut *field, core::ptr::null_mut())) }?;
        while *count > 0 {
            self.none_left.wait(&mut count);
        }
        Some(taken)
    }
}
