//! epoll_wait. The kernel sleeps, and the set tells it that something has come to an rsocket. What that is,
//! the rsocket is asked itself: registrations that may have something to tell are due, and are looked at
//! before anybody sleeps. One that is level-triggered stays due until a look finds nothing.
//!
//! # Safety
//! epoll_pwait(2) on the part of the caller's array that is still free.
#![allow(unsafe_code)]

use super::state::State;
use super::{ALARM, ALWAYS, Epoll, OWN, TIMER};
use crate::connect;
use crate::counted::Counted;
use crate::error::{Errno, Result, quietly};
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, Socket};
use crate::wait::{Deadline, has_passed, timeout_until};
use libc::{EPOLLONESHOT, c_int, epoll_event, pollfd, sigset_t};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Rsockets that are asked at once: fewer than rpoll makes a set of.
const BATCH: usize = 15;
/// Events of the set that are taken at once.
const CHANGES: usize = 64;

/// One pass over everything that could have an event.
struct Round<'a> {
    number: u64,
    events: &'a mut [epoll_event],
    used: usize,
    /// The kernel's own among them.
    by_kernel: Range<usize>,
    /// Places of listeners, which may have an event from either side.
    listeners: Vec<usize>,
}

/// A registration that is looked at.
struct Candidate {
    key: u64,
    socket: Counted<Socket>,
}

impl Epoll {
    pub(crate) fn wait(
        &self,
        instance: c_int,
        events: &mut [epoll_event],
        deadline: Deadline,
        mask: *const sigset_t,
    ) -> Result<usize> {
        loop {
            let number = self.rounds.fetch_add(1, Ordering::Relaxed);
            let listeners = Vec::new();
            let mut round = Round { number, events, used: 0, by_kernel: 0..0, listeners };
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            let is_complete = quietly(|| {
                self.settle();
                self.look_first(&mut round)
            });
            let waits = round.used == 0 && is_complete;
            let limit = if waits { timeout_until(deadline) } else { 0 };
            let asked = round.ask_kernel(instance, limit, mask);
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
            if let Ok(count) = asked {
                quietly(|| self.take(&mut round, count));
            }
            self.leave_to_others();
            match asked {
                _ if round.used > 0 => return Ok(round.used),
                Err(error) => return Err(error),
                Ok(_) if has_passed(deadline) => return Ok(0),
                Ok(_) => {}
            }
        }
    }

    /// What is due comes before the kernel's events, unless it filled all of the room last time. Whether all
    /// was looked at.
    fn look_first(&self, round: &mut Round<'_>) -> bool {
        let room = round.events.len();
        let share = if self.had_all.load(Ordering::Relaxed) { room / 2 } else { room };
        let is_complete = self.look(round, share);
        self.had_all.store(round.used == room, Ordering::Relaxed);
        is_complete
    }

    /// Looks at what is due as long as there is room; whether that was all.
    fn look(&self, round: &mut Round<'_>, room: usize) -> bool {
        let mut left = self.state.lock().due.len();
        let end = round.used + room;
        while left > 0 && round.used < end {
            let most = BATCH.min(left).min(end - round.used);
            left -= most;
            let candidates = self.state.lock().take_due(most, round.number);
            if candidates.is_empty() {
                continue;
            }
            let found = readiness_of(&candidates);
            let mut state = self.state.lock();
            for (candidate, found) in candidates.iter().zip(&found) {
                state.tell(round, candidate, u32::from(found.revents as u16));
            }
            drop(state);
            // Here, without the lock: one may be the last that holds its socket.
            drop(candidates);
        }
        left == 0
    }

    /// The kernel's events are behind the first ones; what the set has to tell comes behind them.
    fn take(&self, round: &mut Round<'_>, count: usize) {
        let (start, mut kept, mut has_changes) = (round.used, round.used, false);
        for index in start..start + count {
            let event = round.events[index];
            match event.u64 {
                TIMER => self.state.lock().timer_rang(),
                ALARM => self.state.lock().alarm_rang(),
                OWN => has_changes = true,
                _ if round.merge_with_listener(&event) => {}
                _ => {
                    round.events[kept] = event;
                    kept += 1;
                }
            }
        }
        (round.by_kernel, round.used) = (start..kept, kept);
        if has_changes {
            self.take_changes();
        }
        let room = round.events.len() - round.used;
        self.look(round, room);
    }

    /// What has changed is due. One thread at a time asks the set: two could see the same event.
    fn take_changes(&self) {
        let mut changes = [epoll_event { events: 0, u64: 0 }; CHANGES];
        let mut state = self.state.lock();
        let Some(set) = state.members.set else { return };
        let count = rsockets::look_at_set(set, &mut changes).unwrap_or(0);
        for change in &changes[..count] {
            state.changed(change.u64 as c_int);
        }
    }

    /// What stays due would not wake those who sleep, nor those who wait for the instance itself.
    fn leave_to_others(&self) {
        if self.has_others() {
            let mut state = self.state.lock();
            if !state.due.is_empty() {
                state.ring();
            }
        }
    }
}

/// What the rsockets of candidates have now, in their order.
fn readiness_of(candidates: &[Candidate]) -> [pollfd; BATCH] {
    let mut fds = [pollfd { fd: -1, events: 0, revents: 0 }; BATCH];
    for (place, candidate) in fds.iter_mut().zip(candidates) {
        *place = place_of(&candidate.socket);
    }
    let asked = &mut fds[..candidates.len().min(BATCH)];
    if asked.iter().any(|place| place.fd >= 0) && rsockets::poll(asked, 0).is_err() {
        asked.iter_mut().for_each(|place| place.revents = 0);
    }
    fds
}

/// The rsocket that has a socket's events; none where it is the kernel's, or has yet to connect.
fn place_of(socket: &Counted<Socket>) -> pollfd {
    if socket.mode() == Mode::Connecting {
        connect::drive(socket);
    }
    let rsocket = match socket.mode() {
        Mode::Listening | Mode::Rdma => socket.rsocket(),
        _ => None,
    };
    pollfd { fd: rsocket.unwrap_or(-1), events: !0, revents: 0 }
}

impl State {
    /// Takes so many off the list of those that are due. What this round has told already, and what stays
    /// due, is not looked at again.
    fn take_due(&mut self, most: usize, round: u64) -> Vec<Candidate> {
        let mut candidates = Vec::with_capacity(most);
        for _ in 0..most {
            let Some(key) = self.due.pop_front() else { break };
            let Some(registration) = self.registrations.get_mut(&key) else { continue };
            if registration.is_level() && registration.told.0 == round {
                self.due.push_back(key);
                continue;
            }
            registration.is_due = false;
            if let Some(socket) = registration.socket.upgrade() {
                candidates.push(Candidate { key, socket });
            }
        }
        candidates
    }

    /// Tells what a look has found, if the program wants to know.
    fn tell(&mut self, round: &mut Round<'_>, candidate: &Candidate, found: u32) {
        let Candidate { key, socket } = candidate;
        let Some(registration) = self.registrations.get_mut(key) else { return };
        let events = found & (registration.events | ALWAYS);
        if events == 0 || !registration.is_active() {
            return;
        }
        if registration.told.0 == round.number {
            // Something more has come since.
            round.add(registration.told.1, events);
            return;
        }
        let event = epoll_event { events, u64: registration.data };
        let place = round.put(event, socket.mode() == Mode::Listening);
        registration.told = (round.number, place);
        if registration.events & EPOLLONESHOT as u32 != 0 {
            registration.spent = true;
            let _ = self.place(*key, socket);
        } else if registration.is_level() {
            self.make_due(*key);
        }
    }
}

impl Round<'_> {
    /// Asks for the kernel's events, where there is room.
    fn ask_kernel(
        &mut self,
        instance: c_int,
        limit: c_int,
        mask: *const sigset_t,
    ) -> Result<usize> {
        let free = &mut self.events[self.used..];
        if free.is_empty() {
            return Ok(0);
        }
        let most = c_int::try_from(free.len()).unwrap_or(c_int::MAX);
        // SAFETY: a live array of that length; the caller's mask.
        let count = unsafe { real::epoll_pwait(instance, free.as_mut_ptr(), most, limit, mask) };
        usize::try_from(count).map_err(|_| Errno::last())
    }

    fn add(&mut self, place: usize, events: u32) {
        if let Some(event) = self.events.get_mut(place) {
            event.events |= events;
        }
    }

    fn has_data(&self, place: usize, data: u64) -> bool {
        self.events.get(place).is_some_and(|event| { event.u64 } == data)
    }

    /// Both sides of a listener are one event.
    fn merge_with_listener(&mut self, event: &epoll_event) -> bool {
        let mut places = self.listeners.iter().copied();
        let Some(place) = places.find(|place| self.has_data(*place, event.u64)) else {
            return false;
        };
        self.add(place, event.events);
        true
    }

    /// The place of an event: a new one, or that of a listener's other side.
    fn put(&mut self, event: epoll_event, is_listener: bool) -> usize {
        if is_listener {
            let mut places = self.by_kernel.clone();
            if let Some(place) = places.find(|place| self.has_data(*place, event.u64)) {
                self.add(place, event.events);
                return place;
            }
            self.listeners.push(self.used);
        }
        let place = self.used;
        if let Some(free) = self.events.get_mut(place) {
            *free = event;
            self.used += 1;
        }
        place
    }
}
