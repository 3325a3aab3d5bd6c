// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Completion channels and queues.
//!
//! # Safety
//! The wrappers hold pointers that libibverbs or the caller of our C API made. They are taken from
//! fields of a valid id or from owners in this library, which keep the object alive while it is
//! used.
#![allow(unsafe_code)]

use super::context::Context;
use super::provider::{created, invalid, unsupported};
use base::errno::{Errno, Result};
use base::fd::RawFd;
use base::{because, fail};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use libc::{c_int, c_void};
use rdma_sys::{ibv_comp_channel, ibv_cq, ibv_wc, ibv_wc_flags, ibv_wc_status};

/// A completion channel that this library made.
pub(crate) struct CompletionChannel(NonNull<ibv_comp_channel>);

impl CompletionChannel {
    pub(crate) fn create(context: Context) -> Result<CompletionChannel> {
        // SAFETY: open context.
        created(unsafe { rdma_sys::ibv_create_comp_channel(context.as_ptr()) })
            .map(CompletionChannel)
            .map_err(|error| {
                because!(
                    error,
                    "ibv_create_comp_channel: a descriptor (RLIMIT_NOFILE) and memory are needed"
                )
            })
    }

    pub(crate) fn as_ptr(&self) -> *mut ibv_comp_channel {
        self.0.as_ptr()
    }

    /// Moves the channel to a field of a public struct.
    pub(crate) fn into_raw(self) -> *mut ibv_comp_channel {
        let raw = self.0.as_ptr();
        core::mem::forget(self);
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
    /// A queue for `entries` completions, whose events carry `user_context`.
    pub(crate) fn create(
        context: Context,
        entries: u32,
        user_context: *mut c_void,
    ) -> Result<CompletionQueue> {
        let entries = c_int::try_from(entries)
            .map_err(|_| fail!(EINVAL, "{entries} entries are too many for a completion queue"))?;
        let channel = CompletionChannel::create(context)?;
        // SAFETY: open context and live channel.
        let queue = created(unsafe {
            rdma_sys::ibv_create_cq(context.as_ptr(), entries, user_context, channel.as_ptr(), 0)
        })
        .map_err(|error| {
            let limit = context.query_device().map_or(0, |device| device.max_cqe);
            because!(
                error,
                "ibv_create_cq with {entries} entries (the device takes {limit}): a smaller queue, or \
                 more locked memory (RLIMIT_MEMLOCK)"
            )
        })?;
        Ok(CompletionQueue { queue, channel: Some(channel) })
    }

    /// A queue whose events come by the channel of another one, which is dropped after it.
    pub(crate) fn create_beside(
        other: &CompletionQueue,
        context: Context,
        entries: u32,
    ) -> Result<CompletionQueue> {
        let entries = c_int::try_from(entries).map_err(|_| Errno::EINVAL)?;
        let channel = other.channel.as_ref().ok_or(Errno::EINVAL)?;
        // SAFETY: open context and live channel.
        let queue = created(unsafe {
            let (context, none) = (context.as_ptr(), core::ptr::null_mut());
            rdma_sys::ibv_create_cq(context, entries, none, channel.as_ptr(), 0)
        })?;
        Ok(CompletionQueue { queue, channel: None })
    }

    pub(crate) fn as_ptr(&self) -> *mut ibv_cq {
        self.queue.as_ptr()
    }

    /// Moves both to fields of a public struct.
    pub(crate) fn into_raw(mut self) -> (*mut ibv_cq, *mut ibv_comp_channel) {
        let channel =
            self.channel.take().map_or(core::ptr::null_mut(), CompletionChannel::into_raw);
        let queue = self.queue.as_ptr();
        core::mem::forget(self);
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
        // Of a new descriptor no flag of this call is set.
        // SAFETY: a live descriptor; no pointers.
        if unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
            return Err(Errno::last());
        }
        Ok(fd)
    }

    /// Asks for an event with the next completion.
    pub(crate) fn arm(&self) -> Result<()> {
        // SAFETY: a live queue.
        unsafe { arm(self.as_ptr()) }
    }

    /// Takes one event where one waits; the descriptor is non-blocking.
    pub(crate) fn take_event(&self) -> Result<()> {
        let channel = self.channel.as_ref().ok_or(Errno::EINVAL)?;
        // SAFETY: a live channel with this queue alone.
        unsafe { take_event(channel.as_ptr()) }.map(drop)
    }

    /// As `take_event`, of a channel that two queues have. Whether it was this one's.
    pub(crate) fn take_event_of_two(&self) -> Result<bool> {
        let channel = self.channel.as_ref().ok_or(Errno::EINVAL)?;
        // SAFETY: a live channel; both queues live as long as their owner.
        let woken = unsafe { take_event(channel.as_ptr()) }?;
        Ok(woken == self.as_ptr())
    }

    /// Takes completions that wait, at most as many as there is room for.
    #[inline]
    pub(crate) fn poll<'a, const ROOM: usize>(
        &self,
        room: &'a mut Room<ROOM>,
    ) -> Result<Found<'a>> {
        let first = room.0.as_mut_ptr().cast::<ibv_wc>();
        // SAFETY: a live queue and room for as many completions.
        let count = unsafe { poll(self.as_ptr(), ROOM as c_int, first) }?;
        let count = usize::try_from(count).map_err(|_| Errno::EIO)?.min(ROOM);
        // SAFETY: so many were written.
        Ok(Found(unsafe { core::slice::from_raw_parts(first.cast(), count) }))
    }
}

/// # Safety
/// A live queue, which has a context with its operations, and room for `count` completions.
#[inline(always)]
unsafe fn poll(queue: *mut ibv_cq, count: c_int, room: *mut ibv_wc) -> Result<c_int> {
    // SAFETY: by contract.
    unsafe {
        let poll = (*(*queue).context).ops.poll_cq.ok_or_else(unsupported)?;
        Ok(poll(queue, count, room))
    }
}

/// # Safety
/// As `poll`.
unsafe fn arm(queue: *mut ibv_cq) -> Result<()> {
    // SAFETY: by contract.
    unsafe {
        let arm = (*(*queue).context).ops.req_notify_cq.ok_or_else(unsupported)?;
        Errno::check(arm(queue, 0))
    }
}

/// Takes one event; waits for it where the descriptor blocks. The queue that it is of.
///
/// # Safety
/// A live channel; the queues on it live until this returns.
unsafe fn take_event(channel: *mut ibv_comp_channel) -> Result<*mut ibv_cq> {
    let mut woken = core::ptr::null_mut();
    let mut context = core::ptr::null_mut();
    // SAFETY: by contract.
    unsafe {
        if rdma_sys::ibv_get_cq_event(channel, &raw mut woken, &raw mut context) != 0 {
            return Err(Errno::last());
        }
        rdma_sys::ibv_ack_cq_events(woken, 1);
    }
    Ok(woken)
}

/// A queue of the caller's that is waited for.
pub(crate) trait Waited: Copy {
    /// Its queue and completion channel, NULL or live.
    fn queue(self) -> (*mut ibv_cq, *mut ibv_comp_channel);

    /// Makes what sleeps, and then tells whether the channel has an event. Where it has none the queue
    /// is polled again.
    fn sleeper(self) -> impl FnMut(&ibv_comp_channel) -> Result<bool>;
}

/// The next completion; waits for it. One that is there already costs a poll.
///
/// # Safety
/// What `waited` names is NULL or live; `completion` is NULL or writable.
#[inline(always)]
pub(crate) unsafe fn next_completion(
    waited: impl Waited,
    completion: *mut ibv_wc,
) -> Result<c_int> {
    let (queue, _) = waited.queue();
    if queue.is_null() || completion.is_null() {
        return Err(invalid(
            "the id has no completion queue, or the place for the completion is NULL",
        ));
    }
    // SAFETY: a live queue and room for one completion.
    let count = unsafe { poll(queue, 1, completion)? };
    if count > 0 {
        return Ok(count);
    }
    // SAFETY: by contract.
    unsafe { completion_after(count, waited, completion) }
}

/// After a first poll that found nothing, or failed: arms, polls again, and only then sleeps. A
/// completion between the first poll and the arming is not missed.
///
/// # Safety
/// As `next_completion`; the queue is live.
#[cold]
#[inline(never)]
unsafe fn completion_after(
    mut polled: c_int,
    waited: impl Waited,
    completion: *mut ibv_wc,
) -> Result<c_int> {
    let (queue, channel) = waited.queue();
    let mut has_event = waited.sleeper();
    let mut armed = false;
    loop {
        match polled {
            0 => {}
            count if count > 0 => return Ok(count),
            // Providers that only say "-1" give no reason.
            -1 => return Err(Errno::EIO),
            code => return Err(Errno::of(code)),
        }
        if channel.is_null() {
            // Nothing could wake us.
            return Err(fail!(
                EINVAL,
                "rdma_get_send_comp or rdma_get_recv_comp: there is no completion channel to wait on"
            ));
        }
        // SAFETY: a live queue and its channel, by contract.
        unsafe {
            if !armed {
                arm(queue)?;
                armed = true;
            } else if has_event(&*channel)? {
                take_event(channel)?;
                armed = false;
            }
            polled = poll(queue, 1, completion)?;
        }
    }
}

/// The fields of a completion that rsockets use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(crate) id: u64,
    pub(crate) status: ibv_wc_status::Type,
    /// Bytes received; meaningless for sends.
    pub(crate) length: u32,
    /// In host order.
    pub(crate) immediate: Option<u32>,
}

impl Completion {
    #[inline]
    pub(crate) fn is_success(&self) -> bool {
        self.status == ibv_wc_status::IBV_WC_SUCCESS
    }

    /// # Safety
    /// Written by a provider.
    #[inline]
    unsafe fn read(from: *const ibv_wc) -> Completion {
        // SAFETY: by contract; all fields are integers.
        unsafe {
            let flags = (*from).wc_flags;
            let failed = (*from).status != ibv_wc_status::IBV_WC_SUCCESS;
            let with_immediate = !failed && flags & ibv_wc_flags::IBV_WC_WITH_IMM.0 != 0;
            let raw = (*from).imm_data_invalidated_rkey_union.imm_data;
            Completion {
                id: (*from).wr_id,
                status: (*from).status,
                length: (*from).byte_len,
                immediate: with_immediate.then(|| u32::from_be(raw)),
            }
        }
    }
}

/// Memory for the completions of one poll.
pub(crate) struct Room<const ROOM: usize>(MaybeUninit<[ibv_wc; ROOM]>);

impl<const ROOM: usize> Room<ROOM> {
    #[inline]
    pub(crate) fn new() -> Room<ROOM> {
        Room(MaybeUninit::uninit())
    }
}

/// Completions of one poll. Fields that their status leaves open are not initialised.
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
