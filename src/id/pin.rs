//! Keeps `id->qp` alive while one thread uses it and another one may call rdma_destroy_qp.
//!
//! # Safety
//! The public field is read and written here under the lock; a pinned queue pair is not destroyed.
#![allow(unsafe_code)]

use super::Id;
use crate::lock::{Condvar, Mutex};
use crate::verbs::QueuePair;
use std::ops::Deref;

#[derive(Default)]
pub(super) struct Pins {
    count: Mutex<u32>,
    none_left: Condvar,
}

/// The queue pair of an id, safe from rdma_destroy_qp until dropped.
pub(crate) struct PinnedQueuePair<'a> {
    id: &'a Id,
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
        let mut count = self.id.pins.count.lock();
        *count -= 1;
        if *count == 0 {
            self.id.pins.none_left.notify_all();
        }
    }
}

impl Id {
    /// `id->qp`, if there is one.
    pub(crate) fn queue_pair(&self) -> Option<PinnedQueuePair<'_>> {
        let mut count = self.pins.count.lock();
        // SAFETY: valid id; the queue pair is alive while the field names it.
        let queue_pair = unsafe { QueuePair::from_raw((*self.as_c()).qp) }?;
        *count += 1;
        Some(PinnedQueuePair { id: self, queue_pair })
    }

    pub(crate) fn has_queue_pair(&self) -> bool {
        let _count = self.pins.count.lock();
        // SAFETY: valid id.
        unsafe { !(*self.as_c()).qp.is_null() }
    }

    pub(crate) fn set_queue_pair(&self, queue_pair: QueuePair) {
        let _count = self.pins.count.lock();
        // SAFETY: valid id.
        unsafe { (*self.as_c()).qp = queue_pair.as_ptr() };
    }

    /// Takes the queue pair out of the id and waits until nobody uses it any more.
    pub(crate) fn take_queue_pair(&self) -> Option<QueuePair> {
        let mut count = self.pins.count.lock();
        // SAFETY: valid id.
        let taken = unsafe {
            QueuePair::from_raw(std::mem::replace(&mut (*self.as_c()).qp, std::ptr::null_mut()))
        }?;
        while *count > 0 {
            self.pins.none_left.wait(&mut count);
        }
        Some(taken)
    }
}
