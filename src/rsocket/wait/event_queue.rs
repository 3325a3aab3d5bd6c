// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A completion queue, the descriptor of its events, and its notification state.

use super::cq_notify::NotifyState;
use crate::verbs::{CompletionQueue, Context, Found, Room};
use base::errno::Result;
use base::fd::RawFd;

/// Completions that are taken at once.
pub(crate) const BATCH: usize = 16;

/// See the module text.
pub(crate) struct EventQueue {
    queue: CompletionQueue,
    fd: RawFd,
    notify: NotifyState,
    entries: u32,
}

impl EventQueue {
    pub(crate) fn create(context: Context, entries: u32) -> Result<EventQueue> {
        let queue = CompletionQueue::create(context, entries, core::ptr::null_mut())?;
        let fd = queue.event_fd()?;
        Ok(EventQueue { queue, fd, notify: NotifyState::default(), entries })
    }

    pub(crate) fn entries(&self) -> u32 {
        self.entries
    }

    pub(crate) fn queue(&self) -> &CompletionQueue {
        &self.queue
    }

    /// Readable when an event waits.
    pub(crate) fn fd(&self) -> RawFd {
        self.fd
    }

    #[inline]
    pub(crate) fn poll<'a>(&self, room: &'a mut Room<BATCH>) -> Result<Found<'a>> {
        self.queue.poll(room)
    }

    /// As `NotifyState`'s.
    pub(crate) fn arm(&mut self) -> Result<()> {
        self.notify.arm(&self.queue)
    }

    pub(crate) fn take_event(&mut self) -> bool {
        self.notify.take_event(&self.queue)
    }

    pub(crate) fn take_due(&mut self) -> bool {
        self.notify.take_due(&self.queue)
    }

    #[inline]
    pub(crate) fn expect_event(&mut self) {
        self.notify.expect_event();
    }

    /// Takes what the queue pairs that were destroyed have left; an event that was requested is the
    /// next user's. False for a queue that nobody must use any more.
    pub(crate) fn clear(&mut self) -> bool {
        let mut room = Room::<BATCH>::new();
        for _ in 0..=self.entries as usize / BATCH {
            let Ok(found) = self.queue.poll(&mut room) else { return false };
            if found.len() > 0 {
                self.notify.expect_event();
            }
            if found.len() < BATCH {
                return true;
            }
        }
        false
    }
}
