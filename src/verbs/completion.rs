//! Completion channels and queues.
#![allow(unsafe_code)]

use super::{Context, created};
use crate::error::{Errno, Result};
use libc::{c_int, c_void};
use rdma_sys::{ibv_comp_channel, ibv_cq};
use std::ptr::NonNull;

/// A completion channel that this library made.
pub(crate) struct CompletionChannel(NonNull<ibv_comp_channel>);

impl CompletionChannel {
    pub(crate) fn create(context: Context) -> Result<CompletionChannel> {
        // SAFETY: open context.
        created(unsafe { rdma_sys::ibv_create_comp_channel(context.as_ptr()) })
            .map(CompletionChannel)
    }

    pub(crate) fn as_ptr(&self) -> *mut ibv_comp_channel {
        self.0.as_ptr()
    }

    /// Gives the channel to a field of a public struct.
    pub(crate) fn into_raw(self) -> *mut ibv_comp_channel {
        let raw = self.0.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// # Safety
    /// NULL, or from `into_raw` and in no other hands.
    pub(crate) unsafe fn from_raw(channel: *mut ibv_comp_channel) -> Option<CompletionChannel> {
        NonNull::new(channel).map(CompletionChannel)
    }
}

impl Drop for CompletionChannel {
    fn drop(&mut self) {
        // SAFETY: ours, and its queue is gone before it.
        unsafe { rdma_sys::ibv_destroy_comp_channel(self.0.as_ptr()) };
    }
}

/// A completion queue that this library made, with its channel.
pub(crate) struct CompletionQueue {
    queue: NonNull<ibv_cq>,
    // Dropped after the queue.
    channel: Option<CompletionChannel>,
}

impl CompletionQueue {
    /// A queue for `entries` completions that tells `user_context` with each event.
    pub(crate) fn create(
        context: Context,
        entries: u32,
        user_context: *mut c_void,
    ) -> Result<CompletionQueue> {
        let entries = c_int::try_from(entries).map_err(|_| Errno::EINVAL)?;
        let channel = CompletionChannel::create(context)?;
        // SAFETY: open context and live channel.
        let queue = created(unsafe {
            rdma_sys::ibv_create_cq(context.as_ptr(), entries, user_context, channel.as_ptr(), 0)
        })?;
        Ok(CompletionQueue { queue, channel: Some(channel) })
    }

    pub(crate) fn as_ptr(&self) -> *mut ibv_cq {
        self.queue.as_ptr()
    }

    /// Gives both to fields of a public struct.
    pub(crate) fn into_raw(mut self) -> (*mut ibv_cq, *mut ibv_comp_channel) {
        let channel = self.channel.take().map_or(std::ptr::null_mut(), CompletionChannel::into_raw);
        let queue = self.queue.as_ptr();
        std::mem::forget(self);
        (queue, channel)
    }

    /// # Safety
    /// From `into_raw` and in no other hands.
    pub(crate) unsafe fn from_raw(
        queue: *mut ibv_cq,
        channel: *mut ibv_comp_channel,
    ) -> Option<CompletionQueue> {
        // SAFETY: by contract.
        let channel = unsafe { CompletionChannel::from_raw(channel) };
        Some(CompletionQueue { queue: NonNull::new(queue)?, channel })
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: ours; the queue pairs on it are gone.
        unsafe { rdma_sys::ibv_destroy_cq(self.queue.as_ptr()) };
    }
}
