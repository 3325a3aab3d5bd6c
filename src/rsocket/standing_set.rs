//! The array that a thread polls again and again, kept as a set.
//!
//! rpoll is handed all its descriptors anew with each call, and most programs hand it the same ones. A
//! long array that comes a second time therefore becomes a set of repoll's kind, owned by the thread:
//! from then on a call costs a comparison of the arrays and what the sockets that have something to tell
//! cost, and nothing for idle ones. Ordinary descriptors stay with poll(2), which alone knows when a
//! number has come to mean another file.

use super::epoll::Set;
use super::looking::Looking;
use super::poll::{ALWAYS, asks_the_same, rsocket};
use super::socket::{self, Socket};
use super::wait::{self, Deadline, Limit};
use crate::counted::{Counted, Weak};
use crate::error::Result;
use crate::fork;
use crate::memory::try_push;
use libc::{EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_MOD, POLLIN, c_short, epoll_event, pollfd};
use std::cell::RefCell;
use std::os::fd::RawFd;

/// Arrays with fewer rsockets are looked at one by one.
const MANY: usize = 16;

/// A place of the array.
struct Place {
    fd: RawFd,
    /// None where the descriptor is the kernel's.
    socket: Option<Weak<Socket>>,
}

/// See the module text.
#[derive(Default)]
struct StandingSet {
    /// The array as it came last, without results.
    array: Vec<pollfd>,
    places: Vec<Place>,
    set: Option<Counted<Set>>,
    /// A fork's child leaves its parent's set alone.
    generation: u32,
    /// No set could be made, or would have been any gain, for the table as it was.
    is_unfit: bool,
    /// `socket::changes` when the places were last compared with the table.
    changes: u64,
    /// The set, and the array's ordinary descriptors with their places.
    watched: Vec<pollfd>,
    ordinary: Vec<usize>,
    told: Vec<epoll_event>,
}

thread_local! {
    static STANDING: RefCell<StandingSet> = RefCell::default();
}

/// The result of polling an array that is known; None for one that is not, whose descriptors are to be
/// looked at one by one.
pub(super) fn poll(fds: &mut [pollfd], limit: Limit) -> Option<Result<usize>> {
    if fds.len() < MANY {
        return None;
    }
    // Not there at a thread's end, and in use when a signal handler polls, too.
    let polled = STANDING.try_with(|standing| standing.try_borrow_mut().ok()?.poll(fds, limit));
    polled.ok().flatten()
}

impl StandingSet {
    fn poll(&mut self, fds: &mut [pollfd], limit: Limit) -> Option<Result<usize>> {
        if self.set.is_some() && self.generation != fork::generation() {
            self.forget();
        }
        let is_same = asks_the_same(&self.array, fds);
        if !is_same && !self.has_same_descriptors(fds) {
            self.remember(fds);
            return None;
        }
        if self.set.is_none() {
            self.gather();
        }
        let set = Counted::clone(self.set.as_ref()?);
        if !is_same && self.change_interests(&set, fds).is_err() {
            self.forget();
            return None;
        }
        let deadline = limit.begin();
        let looking = Looking::start();
        loop {
            if !self.is_current() {
                self.forget();
                return None;
            }
            // Those that had something to tell last time are looked at for a while.
            let looks_again = set.has_listed() && looking.again() && !deadline.has_passed();
            let mut found = self.tell(&set, fds, looks_again);
            if found == 0 && looks_again {
                continue;
            }
            let sleeps = found == 0;
            // What only the kernel knows; without a sleep if there is something to tell already.
            let until = if sleeps { deadline } else { Deadline::Now };
            match wait::poll_until(&mut self.watched, until).and_then(|_| self.take(&set, fds)) {
                Ok(more) => found += more,
                Err(_) if found > 0 => {}
                Err(error) => return Some(Err(error)),
            }
            if found > 0 || deadline.has_passed() {
                if sleeps {
                    looking.slept();
                } else {
                    looking.found();
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
        let room = self.places.try_reserve(fds.len()).and(self.array.try_reserve(fds.len()));
        if room.is_ok() {
            self.array.extend(fds.iter().map(|given| pollfd { revents: 0, ..*given }));
            self.places.extend(fds.iter().map(|given| Place { fd: given.fd, socket: None }));
        }
    }

    fn forget(&mut self) {
        match self.set.take() {
            Some(set) if self.generation == fork::generation() => set.close(),
            // Its sockets' locks may be locked for ever here.
            Some(set) => std::mem::forget(set),
            None => {}
        }
        self.array.clear();
        self.places.clear();
        self.is_unfit = false;
    }

    /// Makes the set, where that is a gain.
    fn gather(&mut self) {
        let changes = socket::changes();
        if self.is_unfit && self.changes == changes {
            return;
        }
        self.changes = changes;
        self.generation = fork::generation();
        let rsockets = self.places.iter().filter(|place| rsocket(place.fd).is_some()).count();
        if rsockets >= MANY {
            if let Ok(set) = Set::new(EPOLL_CLOEXEC) {
                match self.fill(&set) {
                    Ok(()) => self.set = Some(set),
                    Err(_) => set.close(),
                }
            }
        }
        self.is_unfit = self.set.is_none();
    }

    /// An error also for a descriptor that is twice in the array, or is being closed.
    fn fill(&mut self, set: &Counted<Set>) -> Result<()> {
        self.watched.clear();
        self.ordinary.clear();
        self.told.clear();
        try_push(&mut self.watched, pollfd { fd: set.fd(), events: POLLIN, revents: 0 })?;
        for (index, (place, asked)) in self.places.iter_mut().zip(&self.array).enumerate() {
            let Some(found) = rsocket(place.fd) else {
                try_push(&mut self.watched, *asked)?;
                try_push(&mut self.ordinary, index)?;
                continue;
            };
            Set::control(set, EPOLL_CTL_ADD, place.fd, Some(event(asked.events, index)))?;
            place.socket = Some(Counted::downgrade(&found));
            try_push(&mut self.told, epoll_event { events: 0, u64: 0 })?;
        }
        Ok(())
    }

    /// Every descriptor still means what it meant.
    fn is_current(&mut self) -> bool {
        let changes = socket::changes();
        if self.changes == changes {
            return true;
        }
        self.changes = changes;
        self.places.iter().all(|place| match (&place.socket, rsocket(place.fd)) {
            (Some(known), Some(found)) => known.is_of(&found) && found.is_public(),
            (None, None) => true,
            _ => false,
        })
    }

    fn change_interests(&mut self, set: &Counted<Set>, fds: &[pollfd]) -> Result<()> {
        let known = self.array.iter_mut().zip(&self.places);
        for (index, ((asked, place), given)) in known.zip(fds).enumerate() {
            if asked.events != given.events {
                asked.events = given.events;
                if place.socket.is_some() {
                    Set::control(set, EPOLL_CTL_MOD, place.fd, Some(event(given.events, index)))?;
                }
            }
        }
        for (watched, index) in self.watched[1..].iter_mut().zip(&self.ordinary) {
            watched.events = fds[*index].events;
        }
        Ok(())
    }

    /// Fills in what of the ready list has happened; how many places had nothing before.
    fn tell(&mut self, set: &Set, fds: &mut [pollfd], looks_again: bool) -> usize {
        let count = set.look(&mut self.told, looks_again);
        let mut found = 0;
        for told in &self.told[..count] {
            let (events, index) = (told.events, told.u64 as usize);
            let Some(place) = fds.get_mut(index) else { continue };
            found += usize::from(place.revents == 0);
            place.revents = events as c_short & (place.events | ALWAYS);
        }
        found
    }

    /// Fills in what the kernel told, at the end of a sleep.
    fn take(&mut self, set: &Set, fds: &mut [pollfd]) -> Result<usize> {
        let mut found = 0;
        if self.watched[0].revents != 0 {
            set.take_events(&mut self.told)?;
            found = self.tell(set, fds, false);
        }
        for (watched, index) in self.watched[1..].iter().zip(&self.ordinary) {
            fds[*index].revents = watched.revents;
            found += usize::from(watched.revents != 0);
        }
        Ok(found)
    }
}

fn event(events: c_short, index: usize) -> epoll_event {
    // No edge, no one-shot: their bits lie above poll's.
    epoll_event { events: u32::from(events as u16), u64: index as u64 }
}

impl Drop for StandingSet {
    fn drop(&mut self) {
        self.forget();
    }
}
