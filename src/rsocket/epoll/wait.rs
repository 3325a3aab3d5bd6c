//! Waiting for a set.

use super::member::{Interest, Member, event_of_bits};
use super::ready::Verdict;
use super::{READY, Set, fd_of, is_ordinary};
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::rsocket::socket::Socket;
use crate::rsocket::wait::{Deadline, Limit};
use crate::rsocket::waiting::identity_of;
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLONESHOT, c_int,
    epoll_event,
};
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

pub(super) const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;
const EDGE: u32 = EPOLLET as u32;
const ONE_SHOT: u32 = EPOLLONESHOT as u32;
const BATCH: usize = 64;
const NOTHING: epoll_event = epoll_event { events: 0, u64: 0 };

impl Set {
    /// Fills `events`; their number.
    pub(crate) fn wait(&self, events: &mut [epoll_event], limit: Limit) -> Result<usize> {
        if events.is_empty() || events.len() > c_int::MAX as usize / size_of::<epoll_event>() {
            return Err(Errno::EINVAL);
        }
        self.owner.check()?;
        let mut deadline = None;
        loop {
            if self.is_closed.load(Ordering::Acquire) {
                return Err(Errno::EBADF);
            }
            if self.has_all_listed() {
                let found = self.take_ready(events);
                if found > 0 {
                    return Ok(found);
                }
            }
            let deadline = *deadline.get_or_insert_with(|| limit.begin());
            let found = if !self.ready.is_empty() && self.rsockets_first() {
                let found = self.take_ready(events);
                let until = if found > 0 { Deadline::Now } else { deadline };
                let by_kernel = self.kernel_events(&mut events[found..], until);
                // Nobody visits the list in this turn: what came on it has to wake the next.
                self.ready.announce();
                found + by_kernel?
            } else {
                let until = if self.ready.is_empty() { deadline } else { Deadline::Now };
                let found = self.kernel_events(events, until)?;
                found + self.take_ready(&mut events[found..])
            };
            if found > 0 || (deadline.has_passed() && self.ready.is_empty()) {
                return Ok(found);
            }
        }
    }

    /// The kernel knows of nothing else: a look at the list is a look at everything.
    fn has_all_listed(&self) -> bool {
        let listed = self.ready.len();
        listed > 0 && listed == self.members.lock().len() && self.ordinary.lock().is_empty()
    }

    /// For a set that one thread has to itself: whether a look at its list may find something.
    pub(in crate::rsocket) fn has_listed(&self) -> bool {
        !self.ready.is_empty()
    }

    /// For such a set: what of the list is ready. What is not stays there for another look, or is armed.
    pub(in crate::rsocket) fn look(&self, events: &mut [epoll_event], looks_again: bool) -> usize {
        let mut found = 0;
        self.ready.visit_own(|member| {
            let told = match events.get_mut(found) {
                Some(place) if looks_again => self.level_event(member).map(|event| *place = event),
                Some(place) => self.event_of(member).map(|(event, _)| *place = event),
                None => None,
            };
            found += usize::from(told.is_some());
            Verdict { stays: told.is_some() || looks_again, enough: found >= events.len() }
        });
        found
    }

    /// For such a set: puts those whose completion events wait on the list. `room` is only for use.
    pub(in crate::rsocket) fn take_events(&self, room: &mut [epoll_event]) -> Result<()> {
        self.owner.check()?;
        self.kernel_events(room, Deadline::Now).map(drop)
    }

    fn level_event(&self, member: &Member) -> Option<epoll_event> {
        let socket = member.socket.upgrade()?;
        let Interest { events: wanted, data } = (*member.interest.lock())?;
        let events = event_of_bits(socket.readiness()) & (wanted | ALWAYS);
        (events != 0).then_some(epoll_event { events, u64: data })
    }

    /// In turns, so that neither rsockets nor ordinary descriptors that are always ready hold the others
    /// up where there is room for few events.
    fn rsockets_first(&self) -> bool {
        self.turn.fetch_xor(true, Ordering::Relaxed)
    }

    /// Events of members on the ready list.
    fn take_ready(&self, events: &mut [epoll_event]) -> usize {
        let mut found = 0;
        self.ready.visit(|member| {
            let told = match events.get_mut(found) {
                Some(place) => self.event_of(member).map(|(event, stays)| {
                    *place = event;
                    found += 1;
                    stays
                }),
                None => Some(true),
            };
            Verdict { stays: told.unwrap_or(false), enough: found >= events.len() }
        });
        found
    }

    /// What a member has to tell, and whether it is to be asked again without a change.
    fn event_of(&self, member: &Counted<Member>) -> Option<(epoll_event, bool)> {
        let socket = member.socket.upgrade()?;
        let mut interest = member.interest.lock();
        let Interest { events: wanted, data } = (*interest)?;
        let is_edge = wanted & (EDGE | ONE_SHOT) != 0;
        let now = || event_of_bits(socket.readiness()) & (wanted | ALWAYS);
        let mut events = if is_edge { 0 } else { now() };
        if events == 0 {
            // Armed before the last look: what comes after it has an event.
            self.watch(member, &socket);
            events = now();
        }
        if events == 0 {
            return None;
        }
        if wanted & ONE_SHOT != 0 {
            *interest = None;
        }
        Some((epoll_event { events, u64: data }, !is_edge))
    }

    /// Arms a member's socket and watches the descriptor that tells of its events.
    pub(super) fn watch(&self, member: &Member, socket: &Socket) {
        // First the lock: what is asked for before may be old when another thread has watched meanwhile.
        let mut watched = member.watched.lock();
        let own = std::ptr::from_ref(member).cast();
        let Ok(fd) = socket.as_source().and_then(|source| source.arm(own)) else { return };
        if *watched == fd {
            return;
        }
        if *watched >= 0 {
            let _ = self.kernel(EPOLL_CTL_DEL, *watched, 0, 0);
        }
        *watched = -1;
        let key = super::key_of_member(member.fd);
        if fd >= 0 && self.kernel(EPOLL_CTL_ADD, fd, EPOLLIN as u32, key).is_ok() {
            *watched = fd;
        }
    }

    /// Waits in the kernel; events of ordinary descriptors come out, those of rsockets go to the list,
    /// which is to be visited afterwards.
    fn kernel_events(&self, events: &mut [epoll_event], mut until: Deadline) -> Result<usize> {
        let mut found = 0;
        while found < events.len() {
            let mut batch = [NOTHING; BATCH];
            let room = (events.len() - found).min(BATCH);
            let count = match self.epoll.wait_until(&mut batch[..room], until) {
                Ok(count) => count,
                // What was found before counts.
                Err(_) if found > 0 => break,
                Err(error) => return Err(error),
            };
            for event in &batch[..count] {
                let key = event.u64;
                if is_ordinary(key) {
                    let known = self.ordinary.lock().get(&fd_of(key)).copied();
                    let Some(interest) = known else { continue };
                    events[found] = epoll_event { events: event.events, u64: interest.data };
                    found += 1;
                } else if key != READY {
                    self.completion_event(fd_of(key));
                }
            }
            if count < BATCH {
                break;
            }
            until = Deadline::Now;
        }
        Ok(found)
    }

    fn completion_event(&self, fd: RawFd) {
        let Some(member) = self.member(fd) else { return };
        if let Some(socket) = member.socket.upgrade() {
            if let Ok(source) = socket.as_source() {
                source.take_event(identity_of(&member));
            }
        }
        self.ready.put_quietly(member);
    }
}
