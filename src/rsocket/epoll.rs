//! repoll: sets of rsockets and ordinary descriptors that are cheap to wait for.
//!
//! Under each set lies a real epoll instance; the program's descriptor is its own. Ordinary
//! descriptors are watched by it directly, rsockets through the descriptor of their completion
//! events, and one eventfd says that the ready list has entries. An rsocket is on that list whenever
//! it may be ready, and otherwise its completion queue is armed: an idle one costs a wait nothing.
//!
//! # Safety
//! epoll(7) calls on live arrays.
#![allow(unsafe_code)]

use super::socket::{self, Socket};
use super::wait::{self, Deadline, Wake, Waker};
use crate::error::{Errno, Result};
use crate::fork::Owner;
use libc::{
    EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLET, EPOLLHUP,
    EPOLLIN, EPOLLONESHOT, c_int, epoll_event,
};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;
const EDGE: u32 = EPOLLET as u32;
const ONE_SHOT: u32 = EPOLLONESHOT as u32;
/// The key of the eventfd; members count from 1.
const READY: u64 = 0;
const BATCH: usize = 64;

/// What the program asked for.
#[derive(Clone, Copy)]
struct Interest {
    events: u32,
    data: u64,
}

/// An rsocket in a set.
struct Member {
    set: Weak<Set>,
    key: u64,
    fd: RawFd,
    socket: Weak<Socket>,
    /// None when a one-shot event has been told.
    interest: Mutex<Option<Interest>>,
    listed: AtomicBool,
    /// The descriptor of completion events that the set watches.
    watched: Mutex<RawFd>,
}

/// See the module text.
pub(crate) struct Set {
    /// A fork's child shares the kernel's instance, and with it what the parent watches.
    owner: Owner,
    epoll: OwnedFd,
    waker: Waker,
    is_closed: AtomicBool,
    /// The last wait was full before the kernel was asked.
    kernel_first: AtomicBool,
    next_key: AtomicU64,
    members: Mutex<HashMap<RawFd, Arc<Member>>>,
    ordinary: Mutex<HashMap<RawFd, Interest>>,
    ready: Mutex<VecDeque<Arc<Member>>>,
}

impl Wake for Member {
    fn wake(&self) {
        if let Some(set) = self.set.upgrade() {
            let own = set.members.lock().get(&self.fd).map(Arc::clone);
            if let Some(own) = own.filter(|own| own.key == self.key) {
                set.list(own);
            }
        }
    }

    fn closed(&self) {
        if let Some(set) = self.set.upgrade() {
            set.drop_member(self);
        }
    }
}

impl Set {
    /// A new set, entered in the table.
    pub(crate) fn open(flags: c_int) -> Result<RawFd> {
        if flags & !EPOLL_CLOEXEC != 0 {
            return Err(Errno::EINVAL);
        }
        crate::device::require_any()?;
        // SAFETY: no pointers.
        let epoll = unsafe { libc::epoll_create1(flags) };
        if epoll < 0 {
            return Err(Errno::last());
        }
        let set = Set {
            owner: Owner::current(),
            // SAFETY: made above.
            epoll: unsafe { OwnedFd::from_raw_fd(epoll) },
            waker: Waker::new()?,
            is_closed: AtomicBool::new(false),
            kernel_first: AtomicBool::new(false),
            next_key: AtomicU64::new(1),
            members: Mutex::default(),
            ordinary: Mutex::default(),
            ready: Mutex::default(),
        };
        set.kernel(EPOLL_CTL_ADD, set.waker.fd(), EPOLLIN as u32, READY)?;
        socket::enter(epoll, Socket::Set(Arc::new(set)))?;
        Ok(epoll)
    }

    /// The sockets forget the set; its descriptor goes with its last user.
    pub(super) fn close(&self) {
        let members = std::mem::take(&mut *self.members.lock());
        for member in members.into_values() {
            if let Some(socket) = member.socket.upgrade() {
                if let Ok(source) = socket.as_source() {
                    let waiter: Arc<dyn Wake> = member;
                    source.remove_waiter(&waiter);
                }
            }
        }
        self.is_closed.store(true, Ordering::Release);
        self.waker.wake();
    }

    fn kernel(&self, operation: c_int, fd: RawFd, events: u32, key: u64) -> Result<()> {
        self.owner.check()?;
        let mut event = epoll_event { events, u64: key };
        // SAFETY: a live event.
        match unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &raw mut event) } {
            0 => Ok(()),
            _ => Err(Errno::last()),
        }
    }

    pub(crate) fn control(
        self: &Arc<Set>,
        operation: c_int,
        fd: RawFd,
        event: Option<epoll_event>,
    ) -> Result<()> {
        if fd == self.epoll.as_raw_fd() {
            return Err(Errno::EINVAL);
        }
        let interest = match (operation, event) {
            (EPOLL_CTL_DEL, _) => Interest { events: 0, data: 0 },
            (_, Some(event)) => Interest { events: event.events, data: event.u64 },
            (_, None) => return Err(Errno::EFAULT),
        };
        match socket::lookup(fd).filter(|socket| socket.as_set().is_err()) {
            Some(socket) => self.control_rsocket(operation, fd, &socket, interest),
            None => self.control_ordinary(operation, fd, interest),
        }
    }

    /// The kernel's answer is the answer; the program's data stays here.
    fn control_ordinary(&self, operation: c_int, fd: RawFd, interest: Interest) -> Result<()> {
        let mut ordinary = self.ordinary.lock();
        ordinary.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.kernel(operation, fd, interest.events, key_of_ordinary(fd))?;
        match operation {
            EPOLL_CTL_DEL => ordinary.remove(&fd),
            _ => ordinary.insert(fd, interest),
        };
        Ok(())
    }

    fn control_rsocket(
        self: &Arc<Set>,
        operation: c_int,
        fd: RawFd,
        socket: &Arc<Socket>,
        interest: Interest,
    ) -> Result<()> {
        let known = self.members.lock().get(&fd).map(Arc::clone);
        // A descriptor that was closed and is another socket now is not the one that was added.
        let known = known.filter(|member| std::ptr::eq(member.socket.as_ptr(), &**socket));
        match (operation, known) {
            (EPOLL_CTL_ADD, None) => self.add(fd, socket, interest),
            (EPOLL_CTL_ADD, Some(_)) => Err(Errno::EEXIST),
            (EPOLL_CTL_MOD, Some(member)) => {
                *member.interest.lock() = Some(interest);
                self.list(member);
                Ok(())
            }
            (EPOLL_CTL_DEL, Some(member)) => {
                let waiter: Arc<dyn Wake> = member.clone();
                socket.as_source()?.remove_waiter(&waiter);
                self.drop_member(&member);
                Ok(())
            }
            (EPOLL_CTL_MOD | EPOLL_CTL_DEL, None) => Err(Errno::ENOENT),
            _ => Err(Errno::EINVAL),
        }
    }

    fn add(self: &Arc<Set>, fd: RawFd, socket: &Arc<Socket>, interest: Interest) -> Result<()> {
        let member = Arc::new(Member {
            set: Arc::downgrade(self),
            key: self.next_key.fetch_add(1, Ordering::Relaxed),
            fd,
            socket: Arc::downgrade(socket),
            interest: Mutex::new(Some(interest)),
            listed: AtomicBool::new(false),
            watched: Mutex::new(-1),
        });
        {
            let mut members = self.members.lock();
            members.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            members.insert(fd, Arc::clone(&member));
        }
        if let Err(error) = socket.as_source()?.add_waiter(member.clone()) {
            self.drop_member(&member);
            return Err(error);
        }
        self.watch(&member, socket);
        if socket.readiness() as u16 as u32 & (interest.events | ALWAYS) != 0 {
            self.list(member);
        }
        Ok(())
    }

    fn drop_member(&self, member: &Member) {
        let mut members = self.members.lock();
        if members.get(&member.fd).is_some_and(|found| found.key == member.key) {
            members.remove(&member.fd);
        }
        drop(members);
        // It may still be on the ready list.
        *member.interest.lock() = None;
        let watched = std::mem::replace(&mut *member.watched.lock(), -1);
        if watched >= 0 {
            // Gone already where the descriptor was closed.
            let _ = self.kernel(EPOLL_CTL_DEL, watched, 0, 0);
        }
    }

    /// Puts a member on the ready list, once.
    fn list(&self, member: Arc<Member>) {
        if member.listed.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut ready = self.ready.lock();
        ready.push_back(member);
        // The eventfd is readable exactly while the list has entries.
        if ready.len() == 1 {
            self.waker.wake();
        }
    }

    fn unlist(&self) -> Option<Arc<Member>> {
        let mut ready = self.ready.lock();
        let member = ready.pop_front()?;
        if ready.is_empty() {
            self.waker.clear();
        }
        Some(member)
    }

    /// Fills `events`; their number.
    pub(crate) fn wait(&self, events: &mut [epoll_event], deadline: Deadline) -> Result<usize> {
        if events.is_empty() || events.len() > c_int::MAX as usize / size_of::<epoll_event>() {
            return Err(Errno::EINVAL);
        }
        self.owner.check()?;
        loop {
            if self.is_closed.load(Ordering::Acquire) {
                return Err(Errno::EBADF);
            }
            let mut found = 0;
            if self.kernel_first.swap(false, Ordering::Relaxed) {
                found = self.kernel_events(events, Some(Instant::now()))?;
            }
            found += self.take_ready(&mut events[found..]);
            self.kernel_first.store(found == events.len(), Ordering::Relaxed);
            // Ordinary ones have their turn also when rsockets are always ready.
            let until = if found > 0 { Some(Instant::now()) } else { deadline };
            let mut found = found + self.kernel_events(&mut events[found..], until)?;
            if found == 0 {
                // What the kernel told may have put members on the list.
                found = self.take_ready(events);
            }
            if found > 0 || wait::has_passed(deadline) {
                return Ok(found);
            }
        }
    }

    /// Events of members on the ready list.
    fn take_ready(&self, events: &mut [epoll_event]) -> usize {
        let mut found = 0;
        let mut again = Vec::new();
        // Each at most once, so that one that is always ready does not hold the others up.
        let mut left = self.ready.lock().len();
        while found < events.len() && left > 0 {
            left -= 1;
            let Some(member) = self.unlist() else { break };
            member.listed.store(false, Ordering::Release);
            if let Some((event, stays)) = self.event_of(&member) {
                events[found] = event;
                found += 1;
                if stays {
                    again.push(member);
                }
            }
        }
        for member in again {
            self.list(member);
        }
        found
    }

    /// What a member has to tell, and whether it is to be asked again without a change.
    fn event_of(&self, member: &Arc<Member>) -> Option<(epoll_event, bool)> {
        let socket = member.socket.upgrade()?;
        let mut interest = member.interest.lock();
        let wanted = (*interest)?;
        let is_edge = wanted.events & (EDGE | ONE_SHOT) != 0;
        let now = || {
            let events = socket.readiness() as u16 as u32;
            events & (wanted.events | ALWAYS)
        };
        let mut events = if is_edge { 0 } else { now() };
        if events == 0 {
            // Armed before the last look: what comes after it has an event.
            self.watch(member, &socket);
            events = now();
        }
        if events == 0 {
            return None;
        }
        if wanted.events & ONE_SHOT != 0 {
            *interest = None;
        }
        Some((epoll_event { events, u64: wanted.data }, !is_edge))
    }

    fn watch(&self, member: &Member, socket: &Socket) {
        let Ok(fd) = socket.as_source().and_then(|source| source.arm()) else { return };
        let mut watched = member.watched.lock();
        if *watched == fd {
            return;
        }
        if *watched >= 0 {
            let _ = self.kernel(EPOLL_CTL_DEL, *watched, 0, 0);
        }
        *watched = -1;
        if fd >= 0 && self.kernel(EPOLL_CTL_ADD, fd, EPOLLIN as u32, key_of_member(member)).is_ok()
        {
            *watched = fd;
        }
    }

    /// Waits in the kernel; events of ordinary descriptors come out, those of rsockets go to the list.
    fn kernel_events(&self, events: &mut [epoll_event], deadline: Deadline) -> Result<usize> {
        if events.is_empty() {
            return Ok(0);
        }
        let mut batch = [epoll_event { events: 0, u64: 0 }; BATCH];
        let room = events.len().min(BATCH);
        let count = epoll_until(self.epoll.as_raw_fd(), &mut batch[..room], deadline)?;
        let mut found = 0;
        for event in &batch[..count] {
            let (happened, key) = (event.events, event.u64);
            match key {
                READY => {}
                _ if key & ORDINARY != 0 => {
                    let fd = (key & !ORDINARY) as RawFd;
                    let Some(interest) = self.ordinary.lock().get(&fd).copied() else { continue };
                    events[found] = epoll_event { events: happened, u64: interest.data };
                    found += 1;
                }
                _ => self.completion_event((key >> FD_SHIFT) as RawFd),
            }
        }
        Ok(found)
    }

    fn completion_event(&self, fd: RawFd) {
        let member = self.members.lock().get(&fd).map(Arc::clone);
        let Some(member) = member else { return };
        if let Some(socket) = member.socket.upgrade() {
            if let Ok(source) = socket.as_source() {
                source.take_event(Arc::as_ptr(&member).cast());
            }
        }
        self.list(member);
    }
}

/// One descriptor that is readable when one of several is.
pub(super) fn group(fds: impl Iterator<Item = RawFd>) -> Result<OwnedFd> {
    // SAFETY: no pointers.
    let epoll = unsafe { libc::epoll_create1(EPOLL_CLOEXEC) };
    if epoll < 0 {
        return Err(Errno::last());
    }
    // SAFETY: made above.
    let group = unsafe { OwnedFd::from_raw_fd(epoll) };
    for fd in fds {
        let mut event = epoll_event { events: EPOLLIN as u32, u64: 0 };
        // SAFETY: a live event.
        if unsafe { libc::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &raw mut event) } != 0 {
            return Err(Errno::last());
        }
    }
    Ok(group)
}

const ORDINARY: u64 = 1 << 63;
const FD_SHIFT: u32 = 1;

fn key_of_ordinary(fd: RawFd) -> u64 {
    ORDINARY | u64::from(fd.unsigned_abs())
}

/// Never READY.
fn key_of_member(member: &Member) -> u64 {
    (u64::from(member.fd.unsigned_abs()) << FD_SHIFT) | 1
}

/// epoll_wait until a deadline that does not move.
fn epoll_until(epoll: RawFd, events: &mut [epoll_event], deadline: Deadline) -> Result<usize> {
    let Some(deadline) = deadline else { return epoll_wait(epoll, events, -1) };
    // First in the units that epoll_wait has; the rest of a millisecond is waited for by ppoll.
    let mut fds = [libc::pollfd { fd: epoll, events: libc::POLLIN, revents: 0 }];
    match wait::poll_until(&mut fds, Some(deadline))? {
        0 => Ok(0),
        _ => epoll_wait(epoll, events, 0),
    }
}

fn epoll_wait(epoll: RawFd, events: &mut [epoll_event], timeout: c_int) -> Result<usize> {
    let room = c_int::try_from(events.len()).unwrap_or(c_int::MAX);
    // SAFETY: a live array of that length.
    let count = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), room, timeout) };
    usize::try_from(count).map_err(|_| Errno::last())
}
