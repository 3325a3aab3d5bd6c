// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Sending, receiving and polling where nothing is in the way: one piece of memory, a connection, no
//! wait, nobody who counts. Either all of a call is done here, or nothing: then it goes the way of
//! `transfer` and `ready`, which know every case.
//!
//! The state is found by the descriptor and used under its lock, without a reference to the stream
//! (`base::gate`).
//!
//! # Safety
//! Copies between the caller's memory and the regions, as in `transfer`. A stream does not move, and
//! an `Arc` drops it before its memory is freed.
#![allow(unsafe_code)]

use super::link::Link;
use super::state::{Phase, STATES, Stream, StreamState};
use super::transfer::FIRST_TRANSFER;
use crate::rsocket::memory::buffers::Buffers;
use crate::rsocket::wait::ALWAYS;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::fd::RawFd;
use base::{counters, trace};
use core::ptr::NonNull;
use libc::{MSG_DONTWAIT, MSG_ERRQUEUE, MSG_OOB, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, c_int, pollfd};

/// Flags of a receive that make it more than that.
const NOT_PLAIN: c_int = MSG_OOB | MSG_ERRQUEUE | MSG_PEEK | MSG_TRUNC;

/// A descriptor is this stream's from now on.
pub(crate) fn enter(fd: RawFd, stream: &Arc<Stream>) {
    // SAFETY: in an Arc.
    unsafe { stream.state.enter(fd) };
}

/// A descriptor is no more the stream's that it was; the stream has not ended.
pub(crate) fn forget(fd: RawFd) {
    STATES.remove(fd);
}

/// Sends all of it; None where something is in the way.
///
/// # Safety
/// `from` is readable for `length` bytes, or NULL.
#[inline(always)]
pub(crate) unsafe fn send(
    fd: RawFd,
    from: *const u8,
    length: usize,
    flags: c_int,
) -> Option<Result<usize>> {
    if flags & MSG_OOB != 0 || from.is_null() || counters::is_on() || trace::is_on() {
        return None;
    }
    let mut state = STATES.lock(fd)?;
    let Some(link) = state.way_out(length) else {
        drop(state);
        return None;
    };
    // SAFETY: by contract.
    if let Err(error) = unsafe { link.send_from(from, length as u32) } {
        state.note_unsent(error);
    }
    drop(state);
    Some(Ok(length))
}

/// Receives what there is; EAGAIN where there is nothing, and the call does not block. None where something is
/// in the way.
///
/// # Safety
/// `to` is writable for `length` bytes, or NULL.
#[inline(always)]
pub(crate) unsafe fn receive(
    fd: RawFd,
    to: *mut u8,
    length: usize,
    flags: c_int,
) -> Option<Result<usize>> {
    if flags & NOT_PLAIN != 0 || to.is_null() || length == 0 || trace::is_on() {
        return None;
    }
    let mut state = STATES.lock(fd)?;
    let Some((from, count)) = state.arrived(length, flags) else {
        let outcome = state.nothing(flags);
        drop(state);
        return outcome;
    };
    // SAFETY: within the region; the caller's memory, by contract so long, is no part of it.
    unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to, count as usize) };
    state.take(count);
    drop(state);
    Some(Ok(count as usize))
}

/// Fills `revents` with what is true now; the number of entries with events. None where one of them is no
/// open stream.
#[inline(always)]
pub(crate) fn poll(fds: &mut [pollfd]) -> Option<usize> {
    let mut ready = 0;
    for entry in fds {
        entry.revents = 0;
        if entry.fd >= 0 {
            let events = {
                let mut state = STATES.lock(entry.fd)?;
                if state.closed {
                    return None;
                }
                state.poll()
            };
            entry.revents = events & (entry.events | ALWAYS);
            ready += usize::from(entry.revents != 0);
        }
    }
    Some(ready)
}

impl StreamState {
    /// The link, where all of so many bytes may go out as one message.
    #[inline(always)]
    fn way_out(&mut self, length: usize) -> Option<&mut Link> {
        if self.closed {
            return None;
        }
        if self.is_poll_due() {
            self.progress();
        }
        if !self.is_sendable() || !self.iomaps.unsent.is_empty() {
            return None;
        }
        let link = self.link.as_mut()?;
        let bytes = link.flow.transfer_size(length as u64, FIRST_TRANSFER);
        if bytes == 0 || bytes as usize != length { None } else { Some(link) }
    }

    /// The connection has failed with the bytes, as it could have after the call.
    #[cold]
    #[inline(never)]
    fn note_unsent(&mut self, error: Errno) {
        let error = self.end_with(error);
        self.put_back(error);
    }

    /// Bytes that have arrived and lie together, as many as a receive of `length` takes: where, and how
    /// many. None where there are none, or too few, or more to do.
    #[inline(always)]
    fn arrived(&mut self, length: usize, flags: c_int) -> Option<(NonNull<u8>, u32)> {
        if self.closed || self.phase != Phase::Connected {
            return None;
        }
        if !self.has_unread(length) {
            self.progress();
        }
        let link = self.link.as_mut()?;
        let count = (link.flow.unread() as usize).min(length) as u32;
        let [(at, first), _] = link.flow.readable(count);
        let is_enough = count as usize == length
            || (count >= self.options.low_water && flags & MSG_WAITALL == 0);
        if count == 0 || first < count || !is_enough {
            return None;
        }
        NonNull::new(link.endpoint.received(at, count).cast_mut()).map(|from| (from, count))
    }

    /// So many bytes of a receive have been copied.
    #[inline(always)]
    fn take(&mut self, count: u32) {
        if let Some(link) = &mut self.link {
            link.flow.consume(count);
            link.grant();
        }
    }

    /// What a receive says that has nothing to take: EAGAIN, if that is all.
    #[cold]
    fn nothing(&self, flags: c_int) -> Option<Result<usize>> {
        let is_open = !self.closed && self.phase == Phase::Connected && self.error.is_none();
        let blocks = !self.nonblock && flags & MSG_DONTWAIT == 0;
        if blocks || !is_open || self.has_unread(1) || self.at_end() {
            return None;
        }
        Some(Err(Errno::EAGAIN))
    }
}

impl Link {
    /// Posts bytes of the caller's as one message, which flow control allows.
    #[inline(always)]
    unsafe fn send_from(&mut self, from: *const u8, bytes: u32) -> Result<()> {
        if bytes > self.endpoint.inline() {
            // SAFETY: by contract.
            let mut buffers = unsafe { Buffers::one(from.cast_mut().cast(), bytes as usize) }?;
            return self.send_copied(&mut buffers, bytes);
        }
        let transfer = self.flow.take_transfer(bytes, 0);
        // SAFETY: by contract.
        unsafe { self.endpoint.post_inline(&transfer, from, bytes) }
    }
}
