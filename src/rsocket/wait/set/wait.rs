// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Waiting for a set: repoll_wait, and what a poll cache needs of its own set.

use super::control::ALWAYS;
use super::ready_list::Verdict;
use super::state::{Interest, Member, READY, Reported, Set, event_of_bits, fd_of, is_ordinary};
use crate::lane;
use crate::rsocket::wait::source::{Edges, Pollable};
use base::arc::Arc;
use base::counters::{self, layout};
use base::deadline::{Deadline, Timeout};
use base::errno::{Errno, Result};
use base::fail;
use base::fd::RawFd;
use base::time::Instant;
use base::trace;
use core::sync::atomic::Ordering;
use libc::{EPOLLET, EPOLLONESHOT, c_int, epoll_event};

const EDGE: u32 = EPOLLET as u32;
const ONE_SHOT: u32 = EPOLLONESHOT as u32;
const BATCH: usize = 64;
const NOTHING: epoll_event = epoll_event { events: 0, u64: 0 };

impl<S: Pollable> Set<S> {
    /// Fills `events`; their number.
    pub(crate) fn wait(&self, events: &mut [epoll_event], timeout: Timeout) -> Result<usize> {
        if events.is_empty() || events.len() > c_int::MAX as usize / size_of::<epoll_event>() {
            return Err(fail!(EINVAL, "repoll_wait: room for {} events", events.len()));
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
            let deadline = *deadline.get_or_insert_with(|| timeout.begin());
            let found = if !self.ready.is_empty() && self.rsockets_first() {
                let found = self.take_ready(events);
                let until = if found > 0 { Deadline::Now } else { deadline };
                let by_kernel = self.kernel_events(&mut events[found..], until);
                // The list is not visited in this turn: what came on it has to wake the next.
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

    /// The kernel has nothing else to report: visiting the list is enough.
    fn has_all_listed(&self) -> bool {
        let listed = self.ready.len();
        listed > 0 && listed == self.members.lock().len() && self.ordinary.lock().is_empty()
    }

    /// For a set that one thread has to itself: whether visiting its list may find something.
    pub(crate) fn has_listed(&self) -> bool {
        !self.ready.is_empty()
    }

    /// For such a set: what of the list is ready. What is not stays there for the next poll, or is
    /// armed.
    pub(crate) fn poll_listed(&self, events: &mut [epoll_event], polls_again: bool) -> usize {
        let mut found = 0;
        self.ready.visit_own(|member| {
            let reported = match events.get_mut(found) {
                Some(slot) if polls_again => self.level_event(member).map(|event| *slot = event),
                Some(slot) => self.event_of(member).map(|(event, _)| *slot = event),
                None => None,
            };
            found += usize::from(reported.is_some());
            Verdict { stays: reported.is_some() || polls_again, enough: found >= events.len() }
        });
        found
    }

    /// For such a set: puts those whose completion events wait on the list. `room` is only for use.
    pub(crate) fn take_events(&self, room: &mut [epoll_event]) -> Result<()> {
        self.owner.check()?;
        self.kernel_events(room, Deadline::Now).map(drop)
    }

    fn level_event(&self, member: &Member<S>) -> Option<epoll_event> {
        let socket = member.socket.upgrade()?;
        let Interest { events: wanted, data, .. } = (*member.interest.lock())?;
        let events = event_of_bits(socket.readiness()) & (wanted | ALWAYS);
        (events != 0).then_some(epoll_event { events, u64: data })
    }

    /// In turns, so that neither rsockets nor ordinary descriptors that are always ready hold the
    /// others up where there is room for few events.
    fn rsockets_first(&self) -> bool {
        self.turn.fetch_xor(true, Ordering::Relaxed)
    }

    /// Events of members on the ready list.
    fn take_ready(&self, events: &mut [epoll_event]) -> usize {
        let mut found = 0;
        self.ready.visit(|member| {
            let reported = match events.get_mut(found) {
                Some(slot) => self.event_of(member).map(|(event, stays)| {
                    *slot = event;
                    found += 1;
                    stays
                }),
                None => Some(true),
            };
            Verdict { stays: reported.unwrap_or(false), enough: found >= events.len() }
        });
        found
    }

    /// What a member reports, and whether it stays on the list without a change.
    fn event_of(&self, member: &Arc<Member<S>>) -> Option<(epoll_event, bool)> {
        let socket = member.socket.upgrade()?;
        // Locked until the event is noted: of several threads one reports it.
        let mut interest = member.interest.lock();
        let Interest { events: wanted, data, reported } = interest.as_mut()?;
        let (wanted, data) = (*wanted, *data);
        let is_edge = wanted & (EDGE | ONE_SHOT) != 0;
        let look = || {
            let (bits, edges) = socket.look();
            (event_of_bits(bits) & (wanted | ALWAYS), edges)
        };
        let mut seen = if is_edge { (0, Edges::default()) } else { look() };
        if seen.0 == 0 {
            // Armed before the last poll: what comes after it has an event.
            self.watch(member, &socket);
            seen = look();
        }
        let (events, edges) = seen;
        if wanted & EDGE != 0 {
            if let Some(before) = reported {
                before.events &= events;
                if !before.is_outdated(events, edges) {
                    return None;
                }
            }
            *reported = Some(Reported { events, edges });
        }
        if events == 0 {
            return None;
        }
        if wanted & ONE_SHOT != 0 {
            *interest = None;
        }
        Some((epoll_event { events, u64: data }, !is_edge))
    }

    /// Waits in the kernel; events of ordinary descriptors come out, those of rsockets go to the
    /// list, which is to be visited afterwards.
    fn kernel_events(&self, events: &mut [epoll_event], until: Deadline) -> Result<usize> {
        counters::count(|words| {
            if until != Deadline::Now {
                words.add(layout::WAITS, 1);
                words.add(layout::SLEEPS, 1);
            }
        });
        if until == Deadline::Now || !trace::is_on() {
            return self.take_kernel_events(events, until);
        }
        let begin = Instant::now();
        let found = self.take_kernel_events(events, until);
        lane::waited_for(begin, "wait in repoll_wait", self.members.lock().len(), found)
    }

    fn take_kernel_events(&self, events: &mut [epoll_event], mut until: Deadline) -> Result<usize> {
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
                source.take_event(member.identity());
            }
        }
        self.ready.put_unannounced(member);
    }
}
