//! Completion channels and queues.
#![allow(unsafe_code)]

use super::{Completion, Context, created};
use crate::error::{Errno, Result};
use libc::{c_int, c_void};
use rdma_sys::{ibv_comp_channel, ibv_cq, ibv_wc};
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
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

impl CompletionQueue {
    /// The descriptor that is readable when an event waits, made non-blocking.
    pub(crate) fn event_fd(&self) -> Result<RawFd> {
        let channel = self.channel.as_ref().ok_or(Errno::EINVAL)?;
        // SAFETY: a live channel.
        let fd = unsafe { (*channel.as_ptr()).fd };
        // SAFETY: a live descriptor; no pointers.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
        // SAFETY: as above.
        if flags < 0 || unsafe { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) } < 0 {
            return Err(Errno::last());
        }
        Ok(fd)
    }

    /// Asks for an event with the next completion.
    pub(crate) fn arm(&self) -> Result<()> {
        // SAFETY: a live queue has a context with its operations.
        let arm = unsafe { (*(*self.as_ptr()).context).ops.req_notify_cq };
        // SAFETY: a live queue.
        Errno::check(unsafe { arm.ok_or(Errno::EOPNOTSUPP)?(self.as_ptr(), 0) })
    }

    /// Takes one event where one waits; the descriptor is non-blocking.
    pub(crate) fn take_event(&self) -> Result<()> {
        let channel = self.channel.as_ref().ok_or(Errno::EINVAL)?;
        let mut woken = std::ptr::null_mut();
        let mut context = std::ptr::null_mut();
        // SAFETY: a live channel with this queue alone.
        unsafe {
            if rdma_sys::ibv_get_cq_event(channel.as_ptr(), &raw mut woken, &raw mut context) != 0 {
                return Err(Errno::last());
            }
            rdma_sys::ibv_ack_cq_events(woken, 1);
        }
        Ok(())
    }

    /// Takes completions that wait, at most as many as there is room for.
    #[inline]
    pub(crate) fn poll<'a, const ROOM: usize>(
        &self,
        room: &'a mut Room<ROOM>,
    ) -> Result<Found<'a>> {
        let first = room.0.as_mut_ptr().cast::<ibv_wc>();
        // SAFETY: a live queue has a context with its operations.
        let poll = unsafe { (*(*self.as_ptr()).context).ops.poll_cq }.ok_or(Errno::EOPNOTSUPP)?;
        // SAFETY: a live queue and room for as many completions.
        let count = unsafe { poll(self.as_ptr(), ROOM as c_int, first) };
        let count = usize::try_from(count).map_err(|_| Errno::EIO)?.min(ROOM);
        // SAFETY: so many were written.
        Ok(Found(unsafe { std::slice::from_raw_parts(first.cast(), count) }))
    }
}

/// Where one look at a completion queue puts what it finds.
pub(crate) struct Room<const ROOM: usize>(MaybeUninit<[ibv_wc; ROOM]>);

impl<const ROOM: usize> Room<ROOM> {
    #[inline]
    pub(crate) fn new() -> Room<ROOM> {
        Room(MaybeUninit::uninit())
    }
}

/// Completions that a provider wrote, but for fields that their status leaves open.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found<'a>(&'a [MaybeUninit<ibv_wc>]);

impl Found<'_> {
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn completions(&self) -> impl Iterator<Item = Completion> + '_ {
        // SAFETY: the fields left open are integers and not read.
        self.0.iter().map(|entry| unsafe { Completion::read(entry.as_ptr()) })
    }
}

// SAFETY: libibverbs objects may be used from any thread.
unsafe impl Send for CompletionQueue {}
// SAFETY: as above.
unsafe impl Sync for CompletionQueue {}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: ours; the queue pairs on it are gone.
        unsafe { rdma_sys::ibv_destroy_cq(self.queue.as_ptr()) };
    }
}
