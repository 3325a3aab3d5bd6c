// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! epoll_wait. The kernel waits, and the set of rsockets wakes it. Which events an rsocket has, the
//! rsocket is asked itself: registrations that may have an event are in a queue, and are checked
//! before the kernel waits. A level-triggered one stays in the queue until a check finds no event.
//!
//! # Safety
//! epoll_pwait(2) on the part of the caller's array that is still free.
#![allow(unsafe_code)]

use super::contents::Contents;
use super::instance::Epoll;
use super::kernel::{SET, TIMER, WAKE_UP};
use crate::carrier::{datagram, pending, rdma_listener};
use crate::sys::{librdmacm, original};
use crate::table::socket::{Mode, Socket};
use alloc::vec::Vec;
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, Result, preserve_errno};
use base::memory::try_push;
use core::ops::Range;
use core::sync::atomic::Ordering;
use libc::{EPOLLERR, EPOLLHUP, EPOLLONESHOT, c_int, epoll_event, pollfd, sigset_t};

/// Rsockets that are asked at once: few enough for rpoll to do without a set.
const BATCH: usize = 15;
/// Events of the set that are taken at once.
const SET_EVENTS: usize = 64;
/// Entries of this library in an instance.
const OWN_EVENTS: usize = 3;
/// Events that are reported even if the program did not ask for them.
const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;

/// One pass over everything that can have an event.
struct Round<'a> {
    number: u64,
    events: &'a mut [epoll_event],
    used: usize,
    /// The kernel's events among them.
    by_kernel: Range<usize>,
    /// Indices of listeners, which can have an event from either side.
    listeners: Vec<usize>,
}

/// A registration that is checked.
struct Candidate {
    key: u64,
    /// As the registration's.
    changes: u32,
    socket: Arc<Socket>,
}

/// From the first place on.
type Candidates = [Option<Candidate>; BATCH];

impl Epoll {
    pub(crate) fn wait(
        &self,
        instance: c_int,
        events: &mut [epoll_event],
        deadline: Deadline,
        mask: *const sigset_t,
    ) -> Result<usize> {
        let mut more_rounds = OWN_EVENTS;
        loop {
            let number = self.rounds.fetch_add(1, Ordering::Relaxed);
            let listeners = Vec::new();
            let mut round = Round { number, events, used: 0, by_kernel: 0..0, listeners };
            self.waiters.fetch_add(1, Ordering::SeqCst);
            let all_checked = preserve_errno(|| {
                self.decide_carriers();
                self.check_first(&mut round)
            });
            let waits = round.used == 0 && all_checked;
            let timeout = if waits { deadline.left_millis() } else { 0 };
            let taken = round.take_from_kernel(instance, timeout, mask);
            self.waiters.fetch_sub(1, Ordering::SeqCst);
            if let Ok(count) = taken {
                preserve_errno(|| self.sort(&mut round, count));
            }
            self.wake_for_rest();
            match taken {
                _ if round.used > 0 => return Ok(round.used),
                Err(error) => return Err(error),
                // Events of this library had the place of the program's.
                Ok(count) if count == round.events.len() && more_rounds > 0 => more_rounds -= 1,
                Ok(_) if deadline.has_passed() => return Ok(0),
                Ok(_) => {}
            }
        }
    }

    /// Makes RDMA listeners and datagram rsockets, and sets the timer for those that have to be
    /// tried again.
    fn decide_carriers(&self) {
        if !self.has_undecided.load(Ordering::Acquire) {
            return;
        }
        let mut next = Deadline::Never;
        let mut last = None;
        while let Some(key) = self.undecided_after(last) {
            last = Some(key);
            let found = {
                let contents = self.contents.lock();
                let found = contents.registrations.get(key);
                found.and_then(|found| Some((found.socket.upgrade()?, found.fd)))
            };
            let Some((socket, fd)) = found else { continue };
            datagram::expect(&socket, fd);
            next = next.earlier(rdma_listener::prepare(&socket, fd));
        }
        let mut contents = self.contents.lock();
        contents.retain_undecided();
        self.has_undecided.store(!contents.undecided.is_empty(), Ordering::SeqCst);
        contents.set_timer(next);
    }

    /// The undecided registrations one after the other: the list changes meanwhile.
    fn undecided_after(&self, last: Option<u64>) -> Option<u64> {
        let contents = self.contents.lock();
        let is_later = |key: &&u64| last.is_none_or(|last| **key > last);
        contents.undecided.iter().filter(is_later).min().copied()
    }

    /// Checks the queue before the kernel's events are taken. If rsockets filled the whole array in
    /// the last round, half of it is left to the kernel. Returns whether the whole queue was
    /// checked.
    fn check_first(&self, round: &mut Round<'_>) -> bool {
        let room = round.events.len();
        let share = if self.rsockets_filled.load(Ordering::Relaxed) { room / 2 } else { room };
        let all_checked = self.check(round, share);
        self.rsockets_filled.store(round.used == room, Ordering::Relaxed);
        all_checked
    }

    /// Checks the queue as long as there is room. Returns whether the whole queue was checked.
    fn check(&self, round: &mut Round<'_>, room: usize) -> bool {
        let mut left = self.contents.lock().registrations.queued();
        let end = round.used + room;
        while left > 0 && round.used < end {
            let count = BATCH.min(left).min(end - round.used);
            left -= count;
            let candidates = self.contents.lock().take_candidates(count, round.number);
            if candidates[0].is_none() {
                continue;
            }
            let found = readiness_of(&candidates);
            let mut contents = self.contents.lock();
            for (candidate, found) in candidates.iter().flatten().zip(&found) {
                contents.report(round, candidate, u32::from(found.revents as u16));
            }
            drop(contents);
            // Without the lock: this may be the last reference to a socket.
            drop(candidates);
        }
        left == 0
    }

    /// Sorts the kernel's events: the program's are kept, those of this library are handled. What
    /// the set has woken for is checked after that.
    fn sort(&self, round: &mut Round<'_>, count: usize) {
        let (start, mut kept, mut set_has_events) = (round.used, round.used, false);
        for index in start..start + count {
            let event = round.events[index];
            let data = event.u64;
            match data {
                TIMER => self.contents.lock().take_timer(),
                WAKE_UP => self.contents.lock().take_notification(),
                SET => set_has_events = true,
                _ if round.merge_with_listener(&event) => {}
                _ => {
                    round.events[kept] = event;
                    kept += 1;
                }
            }
        }
        (round.by_kernel, round.used) = (start..kept, kept);
        if set_has_events {
            self.take_from_set();
        }
        let room = round.events.len() - round.used;
        self.check(round, room);
    }

    /// Enqueues the registrations of rsockets that have events. Under the lock, because two threads
    /// could see the same event.
    fn take_from_set(&self) {
        let mut events = [epoll_event { events: 0, u64: 0 }; SET_EVENTS];
        let mut contents = self.contents.lock();
        let Contents { set, registrations, .. } = &mut *contents;
        for event in set.wait(&mut events) {
            set.has_event(registrations, event.u64 as c_int);
        }
    }

    /// What stays in the queue wakes another thread that waits in the instance or for it.
    fn wake_for_rest(&self) {
        if self.has_waiters() {
            let mut contents = self.contents.lock();
            if contents.registrations.queued() > 0 {
                contents.notify();
            }
        }
    }
}

/// The events of the candidates' rsockets, in their order.
fn readiness_of(candidates: &Candidates) -> [pollfd; BATCH] {
    let mut fds = [pollfd { fd: -1, events: 0, revents: 0 }; BATCH];
    let mut count = 0;
    for (polled, candidate) in fds.iter_mut().zip(candidates.iter().flatten()) {
        *polled = polled_for(&candidate.socket);
        count += 1;
    }
    let asked = &mut fds[..count];
    if asked.iter().any(|polled| polled.fd >= 0) && librdmacm::poll(asked, 0).is_err() {
        asked.iter_mut().for_each(|polled| polled.revents = 0);
    }
    fds
}

/// The rsocket that has a socket's events; none if the kernel has them, or a connection is pending.
fn polled_for(socket: &Arc<Socket>) -> pollfd {
    if socket.mode() == Mode::Connecting {
        pending::drive(socket);
    }
    let rsocket = match socket.mode() {
        Mode::Listening | Mode::Rdma => socket.rsocket(),
        _ => None,
    };
    pollfd { fd: rsocket.unwrap_or(-1), events: !0, revents: 0 }
}

impl Contents {
    /// Takes so many from the queue. What this round has reported already is not checked again.
    fn take_candidates(&mut self, count: usize, round: u64) -> Candidates {
        let mut candidates = [const { None }; BATCH];
        let mut places = candidates.iter_mut();
        for _ in 0..count.min(BATCH) {
            let Some((key, registration)) = self.registrations.dequeue(round) else { break };
            let candidate = registration.and_then(|found| {
                Some(Candidate { key, changes: found.changes, socket: found.socket.upgrade()? })
            });
            if let Some(place) = candidate.is_some().then(|| places.next()).flatten() {
                *place = candidate;
            }
        }
        candidates
    }

    /// Reports the events that a check has found and that the program wants.
    fn report(&mut self, round: &mut Round<'_>, candidate: &Candidate, found: u32) {
        let Candidate { key, changes, socket } = candidate;
        let Some(registration) = self.registrations.get_mut(*key) else { return };
        if registration.changes != *changes {
            // What was found may be over: another thread has reported it, and the program armed it
            // again.
            return self.registrations.enqueue(*key);
        }
        let events = found & (registration.events | ALWAYS);
        if events == 0 || !registration.is_active() {
            return;
        }
        if registration.reported.0 == round.number {
            // More events since it was reported.
            round.add(registration.reported.1, events);
            return;
        }
        let event = epoll_event { events, u64: registration.data };
        let index = round.put(event, socket.mode() == Mode::Listening);
        registration.reported = (round.number, index);
        if registration.events & EPOLLONESHOT as u32 != 0 {
            registration.is_disabled = true;
            let _ = self.place(*key, socket);
        } else if registration.is_level_triggered() {
            self.registrations.enqueue(*key);
        }
    }
}

impl Round<'_> {
    /// Takes the kernel's events, if there is room.
    fn take_from_kernel(
        &mut self,
        instance: c_int,
        timeout: c_int,
        mask: *const sigset_t,
    ) -> Result<usize> {
        let free = &mut self.events[self.used..];
        if free.is_empty() {
            return Ok(0);
        }
        let room = c_int::try_from(free.len()).unwrap_or(c_int::MAX);
        // SAFETY: a live array of that length; the caller's mask.
        let count =
            unsafe { original::epoll_pwait(instance, free.as_mut_ptr(), room, timeout, mask) };
        usize::try_from(count).map_err(|_| Errno::last())
    }

    fn add(&mut self, index: usize, events: u32) {
        if let Some(event) = self.events.get_mut(index) {
            event.events |= events;
        }
    }

    fn has_data(&self, index: usize, data: u64) -> bool {
        self.events.get(index).is_some_and(|event| { event.u64 } == data)
    }

    /// Events of both sides of a listener are one event.
    fn merge_with_listener(&mut self, event: &epoll_event) -> bool {
        let mut listeners = self.listeners.iter().copied();
        let Some(index) = listeners.find(|index| self.has_data(*index, event.u64)) else {
            return false;
        };
        self.add(index, event.events);
        true
    }

    /// The index of an event: a new one, or that of a listener's other side.
    fn put(&mut self, event: epoll_event, is_listener: bool) -> usize {
        if is_listener {
            let mut by_kernel = self.by_kernel.clone();
            if let Some(index) = by_kernel.find(|index| self.has_data(*index, event.u64)) {
                self.add(index, event.events);
                return index;
            }
            // Without memory both sides are reported.
            let _ = try_push(&mut self.listeners, self.used);
        }
        let index = self.used;
        if let Some(free) = self.events.get_mut(index) {
            *free = event;
            self.used += 1;
        }
        index
    }
}
