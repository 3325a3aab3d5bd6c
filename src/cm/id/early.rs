// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Events of a synchronous id that came while no verb waited for one. A wait for a completion reads
//! them, but never beside a verb, whose event it could take.
//!
//! # Safety
//! What is kept in the id was an owned event.
#![allow(unsafe_code)]

use super::cm_id::Id;
use super::event::OwnedEvent;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;
use core::time::Duration;

/// Bit of `Id::readers`; the others count verbs that wait.
const EARLY: u32 = 1 << 31;
const INTERVAL: Duration = Duration::from_micros(50);

/// A verb that waits for its event.
pub(crate) struct Reading<'a>(&'a Id);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Release);
    }
}

/// A wait for a completion that looks at the events.
pub(crate) struct EarlyReading<'a>(&'a Id);

impl EarlyReading<'_> {
    /// For the next verb. Has its memory since `try_read_early`.
    pub(crate) fn keep(&self, event: OwnedEvent) {
        self.0.with(|state| {
            if let Some(more) = state.more.get_mut() {
                more.early_event = NonNull::new(event.into_c());
            }
        });
    }
}

impl Drop for EarlyReading<'_> {
    fn drop(&mut self) {
        self.0.readers.fetch_and(!EARLY, Ordering::Release);
    }
}

impl Id {
    /// Begins to wait for the event of a verb, with one that came early.
    pub(crate) fn begin_reading(&self) -> (Reading<'_>, Option<OwnedEvent>) {
        loop {
            let before = self.readers.load(Ordering::Relaxed);
            if before & EARLY == 0 {
                let order = (Ordering::Acquire, Ordering::Relaxed);
                let readers = &self.readers;
                if readers.compare_exchange_weak(before, before + 1, order.0, order.1).is_ok() {
                    return (Reading(self), self.take_early_event());
                }
            } else {
                // It does not wait.
                base::time::sleep(INTERVAL);
            }
        }
    }

    /// `None` while somebody else reads, without memory, and where an event has come already.
    pub(crate) fn try_read_early(&self) -> Option<EarlyReading<'_>> {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        self.readers.compare_exchange(0, EARLY, acquire, relaxed).ok()?;
        let reading = EarlyReading(self);
        let has_room =
            self.with(|state| state.more.make().is_ok_and(|more| more.early_event.is_none()));
        has_room.then_some(reading)
    }

    pub(crate) fn has_early_event(&self) -> bool {
        self.with(|state| state.more.get().is_some_and(|more| more.early_event.is_some()))
    }

    pub(super) fn take_early_event(&self) -> Option<OwnedEvent> {
        let kept = self.with(|state| state.more.get_mut()?.early_event.take())?;
        // SAFETY: from `keep`, taken once.
        unsafe { OwnedEvent::from_c(kept.as_ptr()) }
    }
}
