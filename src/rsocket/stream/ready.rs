// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What poll(2) would report of a stream, and what waits need of it.

use super::link::{Link, PeerState};
use super::state::{Phase, Stream, StreamState};
use crate::rsocket::wait::source::{Edges, Identity, Source, Waiter};
use base::errno::Result;
use base::fd::RawFd;
use base::time::Instant;
use libc::{
    POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLRDHUP, POLLRDNORM, POLLWRNORM, c_short,
};

const READ: c_short = POLLIN | POLLRDNORM;
const WRITE: c_short = POLLOUT | POLLWRNORM;

impl Stream {
    /// All events of poll(2) that are true now. In a fork's child every call reports an error; polling
    /// would take what is its parent's.
    pub(crate) fn readiness(&self) -> c_short {
        if self.check().is_err() { POLLERR } else { self.state.lock().poll() }
    }

    /// The same, and the edges until now.
    pub(crate) fn look(&self) -> (c_short, Edges) {
        if self.check().is_err() {
            return (POLLERR, Edges::default());
        }
        let mut state = self.state.lock();
        let events = state.poll();
        (events, state.edges())
    }
}

impl Source for Stream {
    fn add_waiter(&self, waiter: Waiter) -> Result<()> {
        self.check()?;
        self.state.lock().waiters.add(waiter)
    }

    fn enlist(&self, waiter: Waiter) -> Result<(RawFd, c_short)> {
        self.check()?;
        let mut state = self.state.lock();
        let fd = state.arm(Identity::NOBODY)?;
        state.waiters.add(waiter)?;
        Ok((fd, state.poll()))
    }

    fn remove_waiter(&self, waiter: Identity) {
        self.state.lock().waiters.remove(waiter);
    }

    fn arm(&self, own: Identity) -> Result<RawFd> {
        let mut state = self.state.lock();
        if state.is_left { Ok(-1) } else { state.arm(own) }
    }

    fn take_event(&self, own: Identity) {
        self.state.lock().take_event(Link::take_event, own);
    }

    fn take_due(&self, own: Identity) -> bool {
        self.state.lock().take_event(Link::take_due, own)
    }

    fn expect_event(&self) {
        if let Some(link) = &mut self.state.lock().link {
            link.expect_event();
        }
    }

    fn note_wait(&self, since: Instant) {
        self.count_wait(since);
    }
}

impl StreamState {
    pub(super) fn arm(&mut self, own: Identity) -> Result<RawFd> {
        self.take_event(Link::take_due, own);
        match (self.phase, &mut self.link) {
            (Phase::Connected, Some(link)) => {
                link.endpoint.queue.arm()?;
                Ok(link.endpoint.queue.fd())
            }
            _ => Ok(-1),
        }
    }

    pub(super) fn take_event(
        &mut self,
        event: impl FnOnce(&mut Link) -> bool,
        own: Identity,
    ) -> bool {
        let taken = self.link.as_mut().is_some_and(event);
        if taken {
            self.waiters.wake_others(own);
        }
        taken
    }

    #[inline]
    pub(super) fn poll(&mut self) -> c_short {
        if self.closed {
            return POLLNVAL;
        }
        self.progress();
        let events = self.readiness();
        if events & (READ | WRITE) != READ | WRITE {
            self.edges.note_idle(events & READ == 0, events & WRITE == 0);
        }
        events
    }

    fn edges(&self) -> Edges {
        let link = self.link.as_ref();
        let arrived = link.map_or(0, |link| link.flow.arrived()) + self.accept_queue.arrived();
        // As with TCP, an end of either side is an edge of both kinds.
        let end_of_peer = link.map_or(0, |link| link.peer as u64);
        let has_failed = link.is_some_and(|link| link.failure.is_some());
        let ends = [self.read_shut, self.write_shut, has_failed];
        let ends = ends.iter().fold(end_of_peer, |ends, end| ends << 1 | u64::from(*end));
        let common = (self.phase as u64) << 60 | ends << 52;
        Edges {
            reads: common ^ self.edges.reads.wrapping_add(arrived),
            writes: common ^ self.edges.writes,
        }
    }

    #[inline]
    fn readiness(&self) -> c_short {
        match &self.link {
            Some(link) if self.is_open_both_ways(link) => {
                let has_enough = link.flow.unread() >= self.options.low_water;
                let reads = if has_enough { READ } else { 0 };
                reads | if link.flow.is_writable() { WRITE } else { 0 }
            }
            _ => self.other_readiness(),
        }
    }

    /// Neither side has ended, nor has anything failed.
    #[inline]
    fn is_open_both_ways(&self, link: &Link) -> bool {
        self.phase == Phase::Connected
            && self.error.is_none()
            && !self.read_shut
            && !self.write_shut
            && link.peer == PeerState::Open
            && link.failure.is_none()
    }

    #[inline(never)]
    fn other_readiness(&self) -> c_short {
        let failed = if self.error.is_some() { POLLERR } else { 0 };
        match self.phase {
            Phase::Listening if self.accept_queue.is_ready() => READ,
            Phase::Listening | Phase::Connecting | Phase::Accepting => 0,
            Phase::Idle | Phase::Bound | Phase::Failed => {
                let end = if self.read_shut { READ | POLLRDHUP } else { 0 };
                failed | POLLHUP | WRITE | end
            }
            Phase::Connected => failed | self.connected_readiness(),
        }
    }

    fn connected_readiness(&self) -> c_short {
        let Some(link) = &self.link else { return POLLHUP };
        let mut events = 0;
        let broken = link.failure.is_some();
        let peer_is_done = link.peer > PeerState::Open || broken;
        if link.flow.unread() >= self.options.low_water || self.read_shut || peer_is_done {
            events |= READ;
        }
        if self.read_shut || peer_is_done {
            events |= POLLRDHUP;
        }
        // What fails at once does not block.
        if self.write_shut || !link.is_alive() || link.flow.is_writable() {
            events |= WRITE;
        }
        let both = (self.read_shut || peer_is_done) && self.write_shut;
        if broken || both {
            events |= POLLHUP;
        }
        events
    }
}
