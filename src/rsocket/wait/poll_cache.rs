// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The array that a thread polls again and again, kept as a set.
//!
//! rpoll is handed all its descriptors with each call, and most programs hand it the same ones. A
//! long array that comes a second time therefore becomes a set of repoll's kind, owned by the
//! thread: from then on a call costs a comparison of the arrays and the sockets that have something
//! to report, and nothing for idle ones. Ordinary descriptors stay with poll(2), which alone knows
//! when a number has come to mean another file.
//!
//! # Safety
//! The caller's array as plain bytes.
#![allow(unsafe_code)]

use super::busy_poll::BusyPoll;
use super::set::Set;
use super::source::Pollable;
use crate::lane;
use alloc::vec::Vec;
use base::arc::{Arc, Weak};
use base::counters::{count, layout};
use base::deadline::{Deadline, Timeout, poll_until};
use base::errno::Result;
use base::fd::RawFd;
use base::memory::try_push;
use base::per_process::OfProcess;
use base::per_thread::PerThread;
use core::cell::RefCell;
use core::slice;
use libc::{
    EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_MOD, POLLERR, POLLHUP, POLLIN, POLLNVAL, c_short,
    epoll_event, pollfd,
};

/// Events that are reported even if not requested.
pub(crate) const ALWAYS: c_short = POLLERR | POLLHUP | POLLNVAL;

/// Arrays with fewer rsockets are polled one by one.
const MANY: usize = 16;

/// An entry of the array.
struct CachedEntry<S> {
    fd: RawFd,
    /// None where the descriptor is the kernel's.
    socket: Option<Weak<S>>,
}

/// The caches of all threads.
pub(crate) struct PollCaches<S: Pollable>(PerThread<RefCell<PollCache<S>>>);

/// See the module text.
struct PollCache<S: Pollable> {
    /// The array as it came last, without results.
    array: Vec<pollfd>,
    entries: Vec<CachedEntry<S>>,
    set: Option<OfProcess<Arc<Set<S>>>>,
    /// No set could be made, or would have been any gain, for the table as it was.
    is_unfit: bool,
    /// `Pollable::changes` when the entries were last compared with the table.
    changes: u64,
    /// The set, and the array's ordinary descriptors with their indices.
    watched: Vec<pollfd>,
    ordinary: Vec<usize>,
    reported: Vec<epoll_event>,
}

impl<S: Pollable> Default for PollCache<S> {
    fn default() -> PollCache<S> {
        PollCache {
            array: Vec::new(),
            entries: Vec::new(),
            set: None,
            is_unfit: false,
            changes: 0,
            watched: Vec::new(),
            ordinary: Vec::new(),
            reported: Vec::new(),
        }
    }
}

impl<S: Pollable> PollCaches<S> {
    pub(crate) const fn new() -> PollCaches<S> {
        PollCaches(PerThread::new())
    }

    /// The result of polling an array that is known; None for one that is not, whose descriptors
    /// are to be polled one by one.
    pub(super) fn poll(&self, fds: &mut [pollfd], timeout: Timeout) -> Option<Result<usize>> {
        if fds.len() < MANY {
            return None;
        }
        // In use when a signal handler polls, too.
        let polled = self.0.with(|cache| cache.try_borrow_mut().ok()?.poll(fds, timeout));
        polled.ok().flatten()
    }
}

/// Whether two arrays have the same descriptors and events. Results are cleared on the way: this is
/// all that an idle socket of a known array costs, so it is one pass over whole entries, without
/// branches.
fn is_same_array(known: &[pollfd], given: &mut [pollfd]) -> bool {
    /// Descriptor and events, without the results behind them.
    const REQUEST: u64 = u64::from_ne_bytes([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0]);
    const { assert!(size_of::<pollfd>() == 8 && core::mem::offset_of!(pollfd, revents) == 6) };
    if known.len() != given.len() {
        return false;
    }
    // SAFETY: entries are eight bytes of integers without gaps, at any alignment.
    let (known, given) = unsafe {
        let known = slice::from_raw_parts(known.as_ptr().cast::<[u8; 8]>(), known.len());
        (known, slice::from_raw_parts_mut(given.as_mut_ptr().cast::<[u8; 8]>(), given.len()))
    };
    let mut difference = 0;
    for (known, given) in known.iter().zip(given) {
        let asked = u64::from_ne_bytes(*given) & REQUEST;
        difference |= asked ^ u64::from_ne_bytes(*known);
        *given = asked.to_ne_bytes();
    }
    difference & REQUEST == 0
}

impl<S: Pollable> PollCache<S> {
    fn poll(&mut self, fds: &mut [pollfd], timeout: Timeout) -> Option<Result<usize>> {
        if self.set.as_ref().is_some_and(|set| set.get().is_none()) {
            self.forget();
        }
        let is_same = is_same_array(&self.array, fds);
        if !is_same && !self.has_same_descriptors(fds) {
            self.remember(fds);
            return None;
        }
        if self.set.is_none() {
            self.gather();
        }
        let set = Arc::clone(self.set.as_ref()?.get()?);
        if !is_same && self.change_interests(&set, fds).is_err() {
            self.forget();
            return None;
        }
        let deadline = timeout.begin();
        let busy_poll = BusyPoll::start();
        let mut has_slept = false;
        loop {
            if !self.is_current() {
                self.forget();
                return None;
            }
            // Those that had something to report last time are busy-polled.
            let polls_again = set.has_listed() && busy_poll.goes_on() && !deadline.has_passed();
            let mut found = self.report_listed(&set, fds, polls_again);
            if found == 0 && polls_again {
                continue;
            }
            let sleeps = found == 0;
            // What only the kernel knows; without a sleep if there is something to report already.
            let until = if sleeps { deadline } else { Deadline::Now };
            if sleeps {
                count(|words| {
                    if deadline != Deadline::Now {
                        words.add(layout::SLEEPS, 1);
                        words
                            .add(layout::WAITS, (!core::mem::replace(&mut has_slept, true)).into());
                    }
                });
            }
            let begin = if sleeps { lane::wait_begins() } else { None };
            let polled = poll_until(&mut self.watched, until);
            let polled = match begin {
                Some(begin) => lane::waited_for(begin, "wait in rpoll", fds.len(), polled),
                None => polled,
            };
            match polled.and_then(|_| self.report_kernel(&set, fds)) {
                Ok(more) => found += more,
                Err(_) if found > 0 => {}
                Err(error) => return Some(Err(error)),
            }
            if found > 0 || deadline.has_passed() {
                if sleeps {
                    busy_poll.slept();
                } else {
                    busy_poll.found();
                }
                return Some(Ok(found));
            }
        }
    }

    fn has_same_descriptors(&self, fds: &[pollfd]) -> bool {
        self.array.len() == fds.len()
            && self.array.iter().zip(fds).all(|(known, given)| known.fd == given.fd)
    }

    fn remember(&mut self, fds: &[pollfd]) {
        self.forget();
        let room = self.entries.try_reserve(fds.len()).and(self.array.try_reserve(fds.len()));
        if room.is_ok() {
            self.array.extend(fds.iter().map(|given| pollfd { revents: 0, ..*given }));
            self.entries.extend(fds.iter().map(|given| CachedEntry { fd: given.fd, socket: None }));
        }
    }

    fn forget(&mut self) {
        if let Some(set) = self.set.take().and_then(OfProcess::into_inner) {
            set.close();
        }
        self.array.clear();
        self.entries.clear();
        self.is_unfit = false;
    }

    /// Makes the set, where that is a gain.
    fn gather(&mut self) {
        let changes = S::changes();
        if self.is_unfit && self.changes == changes {
            return;
        }
        self.changes = changes;
        let rsockets = self.entries.iter().filter(|entry| S::find(entry.fd).is_some()).count();
        if rsockets >= MANY {
            if let Ok(set) = Set::new(EPOLL_CLOEXEC) {
                match self.fill(&set) {
                    Ok(()) => self.set = Some(OfProcess::new(set)),
                    Err(_) => set.close(),
                }
            }
        }
        self.is_unfit = self.set.is_none();
    }

    /// An error also for a descriptor that is twice in the array, or is being closed.
    fn fill(&mut self, set: &Arc<Set<S>>) -> Result<()> {
        self.watched.clear();
        self.ordinary.clear();
        self.reported.clear();
        try_push(&mut self.watched, pollfd { fd: set.fd(), events: POLLIN, revents: 0 })?;
        for (index, (entry, asked)) in self.entries.iter_mut().zip(&self.array).enumerate() {
            let Some(found) = S::find(entry.fd) else {
                try_push(&mut self.watched, *asked)?;
                try_push(&mut self.ordinary, index)?;
                continue;
            };
            Set::control(set, EPOLL_CTL_ADD, entry.fd, Some(event(asked.events, index)))?;
            entry.socket = Some(Arc::downgrade(&found));
            try_push(&mut self.reported, epoll_event { events: 0, u64: 0 })?;
        }
        Ok(())
    }

    /// Every descriptor still means what it meant.
    fn is_current(&mut self) -> bool {
        let changes = S::changes();
        if self.changes == changes {
            return true;
        }
        self.changes = changes;
        self.entries.iter().all(|entry| match (&entry.socket, S::find(entry.fd)) {
            (Some(known), Some(found)) => known.as_ptr() == Arc::as_ptr(&found) && found.is_open(),
            (None, None) => true,
            _ => false,
        })
    }

    fn change_interests(&mut self, set: &Arc<Set<S>>, fds: &[pollfd]) -> Result<()> {
        let known = self.array.iter_mut().zip(&self.entries);
        for (index, ((asked, entry), given)) in known.zip(fds).enumerate() {
            if asked.events != given.events {
                asked.events = given.events;
                if entry.socket.is_some() {
                    Set::control(set, EPOLL_CTL_MOD, entry.fd, Some(event(given.events, index)))?;
                }
            }
        }
        for (watched, index) in self.watched[1..].iter_mut().zip(&self.ordinary) {
            watched.events = fds[*index].events;
        }
        Ok(())
    }

    /// Fills in what members of the ready list report; how many entries had nothing before.
    fn report_listed(&mut self, set: &Set<S>, fds: &mut [pollfd], polls_again: bool) -> usize {
        let count = set.poll_listed(&mut self.reported, polls_again);
        let mut found = 0;
        for reported in &self.reported[..count] {
            let (events, index) = (reported.events, reported.u64 as usize);
            let Some(entry) = fds.get_mut(index) else { continue };
            found += usize::from(entry.revents == 0);
            entry.revents = events as c_short & (entry.events | ALWAYS);
        }
        found
    }

    /// Fills in what the kernel reports, at the end of a sleep.
    fn report_kernel(&mut self, set: &Set<S>, fds: &mut [pollfd]) -> Result<usize> {
        let mut found = 0;
        if self.watched[0].revents != 0 {
            set.take_events(&mut self.reported)?;
            found = self.report_listed(set, fds, false);
        }
        for (watched, index) in self.watched[1..].iter().zip(&self.ordinary) {
            fds[*index].revents = watched.revents;
            found += usize::from(watched.revents != 0);
        }
        Ok(found)
    }
}

fn event(events: c_short, index: usize) -> epoll_event {
    // Neither edge-triggered nor one-shot: their bits lie above poll's.
    epoll_event { events: u32::from(events as u16), u64: index as u64 }
}

impl<S: Pollable> Drop for PollCache<S> {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(count: i32) -> Vec<pollfd> {
        (0..count).map(|fd| pollfd { fd, events: POLLIN, revents: 0 }).collect()
    }

    #[test]
    fn what_an_array_asks_is_its_descriptors_and_events() {
        for count in [0, 1, 2, 15, 16, 33] {
            let known = array(count);
            let mut given = array(count);
            given.iter_mut().for_each(|entry| entry.revents = !0);
            assert!(is_same_array(&known, &mut given));
            assert!(given.iter().all(|entry| entry.revents == 0 && entry.events == POLLIN));
            assert!(!is_same_array(&array(count + 1), &mut given));
            for index in 0..count as usize {
                given[index].events = !POLLIN;
                assert!(!is_same_array(&known, &mut given));
                given[index].events = POLLIN;
                given[index].fd |= 1 << 30;
                assert!(!is_same_array(&known, &mut given));
                given[index].fd = index as i32;
                assert!(is_same_array(&known, &mut given));
            }
        }
    }
}
