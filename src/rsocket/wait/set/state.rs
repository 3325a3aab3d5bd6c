// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A set and its members: what there is, and what wakes it.

use super::ready_list::{Entry, ReadyList, Signal};
use crate::rsocket::epoll::Epoll;
use crate::rsocket::wait::source::{Edges, Identity, Observer, Pollable};
use alloc::boxed::Box;
use base::arc::{Arc, Weak};
use base::errno::Result;
use base::eventfd::EventFd;
use base::fd::RawFd;
use base::lock::Mutex;
use base::memory::try_box;
use base::owner::Owner;
use base::sync::AtomicBool as ListedFlag;
use core::sync::atomic::{AtomicBool, AtomicU64};
use hashbrown::HashMap;
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLRDNORM, EPOLLWRBAND,
    EPOLLWRNORM, c_int, c_short,
};

/// The key of the eventfd. Those of rsockets are odd, those of ordinary descriptors have the upper
/// bit.
pub(super) const READY: u64 = 0;
const ORDINARY: u64 = 1 << 63;
const FD_SHIFT: u32 = 1;

const READS: u32 = (EPOLLIN | EPOLLRDNORM | EPOLLRDHUP) as u32;
const WRITES: u32 = (EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND) as u32;

pub(super) fn key_of_ordinary(fd: RawFd) -> u64 {
    ORDINARY | key_of_member(fd)
}

fn key_of_member(fd: RawFd) -> u64 {
    (u64::from(fd.unsigned_abs()) << FD_SHIFT) | 1
}

pub(super) fn is_ordinary(key: u64) -> bool {
    key & ORDINARY != 0
}

pub(super) fn fd_of(key: u64) -> RawFd {
    (key >> FD_SHIFT) as u32 as RawFd
}

/// Events of poll(2) as the program's event, which may have any events.
pub(super) fn event_of_bits(bits: c_short) -> u32 {
    u32::from(bits as u16)
}

/// What the program requested: events, and the data that they are reported with.
#[derive(Clone, Copy)]
pub(super) struct Interest {
    pub(super) events: u32,
    pub(super) data: u64,
    /// Of an edge-triggered one: what its last event was about.
    pub(super) reported: Option<Reported>,
}

impl Interest {
    pub(super) fn new(events: u32, data: u64) -> Interest {
        Interest { events, data, reported: None }
    }
}

/// What an edge-triggered event has told.
#[derive(Clone, Copy)]
pub(super) struct Reported {
    /// Without those that were seen to be over.
    pub(super) events: u32,
    pub(super) edges: Edges,
}

impl Reported {
    /// Whether there is an edge that was not told. As in the kernel one of the requested events is
    /// enough to tell of all.
    pub(super) fn is_outdated(&self, events: u32, edges: Edges) -> bool {
        events & !self.events != 0
            || (events & READS != 0 && edges.reads != self.edges.reads)
            || (events & WRITES != 0 && edges.writes != self.edges.writes)
    }
}

/// A set of sockets of kind `S`.
pub(crate) struct Set<S> {
    /// A fork's child shares the kernel's instance, and with it what the parent watches.
    pub(super) owner: Owner,
    pub(super) epoll: Epoll,
    pub(super) is_closed: AtomicBool,
    /// Who comes first in the next wait.
    pub(super) turn: AtomicBool,
    pub(super) next_number: AtomicU64,
    /// Held while an rsocket is added, changed or removed: several steps, in the set and in the socket.
    pub(super) changes: Mutex<()>,
    pub(super) members: Mutex<HashMap<RawFd, Arc<Member<S>>>>,
    pub(super) ordinary: Mutex<HashMap<RawFd, Interest>>,
    pub(super) ready: ReadyList<Member<S>, EventFd>,
}

/// An rsocket in a set.
pub(super) struct Member<S> {
    pub(super) set: Weak<Set<S>>,
    /// Tells it from another that had the same descriptor.
    pub(super) number: u64,
    pub(super) fd: RawFd,
    pub(super) socket: Weak<S>,
    /// None when a one-shot event has been reported.
    pub(super) interest: Mutex<Option<Interest>>,
    pub(super) listed: ListedFlag,
    /// The descriptor of completion events that the set watches.
    pub(super) watched: Mutex<RawFd>,
}

impl Signal for EventFd {
    fn raise(&self) {
        self.notify();
    }

    fn lower(&self) {
        EventFd::clear(self);
    }
}

impl<S> Entry for Member<S> {
    fn listed(&self) -> &ListedFlag {
        &self.listed
    }
}

impl<S: Pollable> Observer for Arc<Member<S>> {
    fn identity(&self) -> Identity {
        Member::identity(self)
    }

    fn wake(&self) {
        if let Some(set) = self.set.upgrade() {
            if let Some(own) = set.member(self.fd).filter(|own| own.number == self.number) {
                set.ready.put(own);
            }
        }
    }

    fn closed(&self) {
        if let Some(set) = self.set.upgrade() {
            set.drop_member(self);
        }
    }

    fn detach(&self) {
        if let Some(set) = self.set.upgrade() {
            set.unwatch(self);
        }
    }

    fn copy(&self) -> Result<Box<dyn Observer>> {
        let copy: Box<dyn Observer> = try_box(Arc::clone(self))?;
        Ok(copy)
    }
}

impl<S> Member<S> {
    pub(super) fn identity(&self) -> Identity {
        Identity::of(self)
    }
}

impl<S> Set<S> {
    pub(super) fn kernel(&self, operation: c_int, fd: RawFd, events: u32, key: u64) -> Result<()> {
        self.owner.check()?;
        self.epoll.control(operation, fd, events, key)
    }

    pub(super) fn member(&self, fd: RawFd) -> Option<Arc<Member<S>>> {
        self.members.lock().get(&fd).cloned()
    }

    pub(super) fn drop_member(&self, member: &Member<S>) {
        let mut members = self.members.lock();
        if members.get(&member.fd).is_some_and(|found| found.number == member.number) {
            members.remove(&member.fd);
        }
        drop(members);
        // It may still be on the ready list.
        *member.interest.lock() = None;
        self.unwatch(member);
    }

    fn unwatch(&self, member: &Member<S>) {
        let mut watched = member.watched.lock();
        if *watched >= 0 {
            // Gone already where the descriptor was closed.
            let _ = self.kernel(EPOLL_CTL_DEL, *watched, 0, 0);
        }
        *watched = -1;
    }
}

impl<S: Pollable> Set<S> {
    /// Arms a member's socket and watches the descriptor that reports its events.
    pub(super) fn watch(&self, member: &Member<S>, socket: &S) {
        // First the lock: what is requested before it may be outdated when another thread has
        // watched meanwhile.
        let mut watched = member.watched.lock();
        let own = member.identity();
        let Ok(fd) = socket.as_source().and_then(|source| source.arm(own)) else { return };
        if *watched == fd {
            return;
        }
        if *watched >= 0 {
            let _ = self.kernel(EPOLL_CTL_DEL, *watched, 0, 0);
        }
        *watched = -1;
        let key = key_of_member(member.fd);
        if fd >= 0 && self.kernel(EPOLL_CTL_ADD, fd, EPOLLIN as u32, key).is_ok() {
            *watched = fd;
        }
    }
}
