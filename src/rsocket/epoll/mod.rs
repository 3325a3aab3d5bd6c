//! repoll: sets of rsockets and ordinary descriptors that are cheap to wait for.
//!
//! Under each set lies a real epoll instance (`kernel`); the program's descriptor is its own. Ordinary
//! descriptors are watched by it directly, rsockets (`member`) through the descriptor of their completion
//! events, and one eventfd says that the ready list (`ready`) has entries. An rsocket is on that list
//! whenever it may be ready, and otherwise its completion queue is armed: an idle one costs a wait
//! (`wait`) nothing.

mod kernel;
mod member;
mod ready;
mod wait;

use super::socket::{self, Socket};
use super::wait::{Waiter, Waker};
use crate::counted::Counted;
use crate::error::{Errno, Result};
use crate::fork::Owner;
use crate::lock::Mutex;
use crate::sync::AtomicBool as ListedFlag;
pub(super) use kernel::Epoll;
use libc::{
    EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLIN, c_int, epoll_event,
};
pub(super) use member::Member;
use member::{Found, Interest, event_of_bits};
use ready::{ReadyList, Signal};
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wait::ALWAYS;

/// The key of the eventfd. Those of rsockets are odd, those of ordinary descriptors have the upper bit.
const READY: u64 = 0;
const ORDINARY: u64 = 1 << 63;
const FD_SHIFT: u32 = 1;

fn key_of_ordinary(fd: RawFd) -> u64 {
    ORDINARY | key_of_member(fd)
}

fn key_of_member(fd: RawFd) -> u64 {
    (u64::from(fd.unsigned_abs()) << FD_SHIFT) | 1
}

fn is_ordinary(key: u64) -> bool {
    key & ORDINARY != 0
}

fn fd_of(key: u64) -> RawFd {
    (key >> FD_SHIFT) as u32 as RawFd
}

/// See the module text.
pub(crate) struct Set {
    /// A fork's child shares the kernel's instance, and with it what the parent watches.
    owner: Owner,
    epoll: Epoll,
    is_closed: AtomicBool,
    /// Who comes first in the next wait.
    turn: AtomicBool,
    next_number: AtomicU64,
    members: Mutex<HashMap<RawFd, Counted<Member>>>,
    ordinary: Mutex<HashMap<RawFd, Interest>>,
    ready: ReadyList<Member, Waker>,
}

impl Signal for Waker {
    fn raise(&self) {
        self.wake();
    }

    fn lower(&self) {
        self.clear();
    }
}

impl Set {
    /// A new set, entered in the table.
    pub(crate) fn open(flags: c_int) -> Result<RawFd> {
        if flags & !EPOLL_CLOEXEC != 0 {
            return Err(Errno::EINVAL);
        }
        crate::device::require_any()?;
        let set = Set::new(flags)?;
        let fd = set.fd();
        socket::enter(fd, Socket::Set(set))?;
        Ok(fd)
    }

    /// One that the program does not know.
    pub(super) fn new(flags: c_int) -> Result<Counted<Set>> {
        let set = Set {
            owner: Owner::current(),
            epoll: Epoll::new(flags)?,
            is_closed: AtomicBool::new(false),
            turn: AtomicBool::new(false),
            next_number: AtomicU64::new(1),
            members: Mutex::default(),
            ordinary: Mutex::default(),
            ready: ReadyList::new(Waker::new()?),
        };
        set.kernel(EPOLL_CTL_ADD, set.ready.signal().fd(), EPOLLIN as u32, READY)?;
        Counted::try_new(set)
    }

    pub(super) fn fd(&self) -> RawFd {
        self.epoll.fd()
    }

    /// The sockets forget the set; its descriptor goes with its last user.
    pub(super) fn close(&self) {
        let members = std::mem::take(&mut *self.members.lock());
        for member in members.into_values() {
            if let Some(socket) = member.socket.upgrade() {
                if let Ok(source) = socket.as_source() {
                    source.remove_waiter(&Waiter::Member(member));
                }
            }
        }
        self.is_closed.store(true, Ordering::Release);
        self.ready.signal().wake();
    }

    fn kernel(&self, operation: c_int, fd: RawFd, events: u32, key: u64) -> Result<()> {
        self.owner.check()?;
        self.epoll.control(operation, fd, events, key)
    }

    fn member(&self, fd: RawFd) -> Found {
        self.members.lock().get(&fd).cloned()
    }

    pub(crate) fn control(
        set: &Counted<Set>,
        operation: c_int,
        fd: RawFd,
        event: Option<epoll_event>,
    ) -> Result<()> {
        if fd == set.fd() {
            return Err(Errno::EINVAL);
        }
        let interest = match (operation, event) {
            (EPOLL_CTL_DEL, _) => Interest { events: 0, data: 0 },
            (_, Some(event)) => Interest { events: event.events, data: event.u64 },
            (_, None) => return Err(Errno::EFAULT),
        };
        match socket::find_any(fd).filter(|socket| socket.is_source()) {
            Some(socket) if socket.is_public() => {
                Set::control_rsocket(set, operation, fd, &socket, interest)
            }
            // It is being closed.
            Some(_) => Err(Errno::EBADF),
            None => set.control_ordinary(operation, fd, interest),
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
        set: &Counted<Set>,
        operation: c_int,
        fd: RawFd,
        socket: &Counted<Socket>,
        interest: Interest,
    ) -> Result<()> {
        let known = set.member(fd);
        // A descriptor that was closed and is another socket now is not the one that was added.
        let known = known.filter(|member| member.socket.is_of(socket));
        match (operation, known) {
            (EPOLL_CTL_ADD, None) => Set::add(set, fd, socket, interest),
            (EPOLL_CTL_ADD, Some(_)) => Err(Errno::EEXIST),
            (EPOLL_CTL_MOD, Some(member)) => {
                *member.interest.lock() = Some(interest);
                set.ready.put(member);
                Ok(())
            }
            (EPOLL_CTL_DEL, Some(member)) => {
                socket.as_source()?.remove_waiter(&Waiter::Member(member.clone()));
                set.drop_member(&member);
                Ok(())
            }
            (EPOLL_CTL_MOD | EPOLL_CTL_DEL, None) => Err(Errno::ENOENT),
            _ => Err(Errno::EINVAL),
        }
    }

    fn add(
        set: &Counted<Set>,
        fd: RawFd,
        socket: &Counted<Socket>,
        interest: Interest,
    ) -> Result<()> {
        let member = Counted::try_new(Member {
            set: Counted::downgrade(set),
            number: set.next_number.fetch_add(1, Ordering::Relaxed),
            fd,
            socket: Counted::downgrade(socket),
            interest: Mutex::new(Some(interest)),
            listed: ListedFlag::new(false),
            watched: Mutex::new(-1),
        })?;
        {
            let mut members = set.members.lock();
            members.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            set.ready.reserve(members.len() + 1)?;
            members.insert(fd, Counted::clone(&member));
        }
        if let Err(error) = socket.as_source()?.add_waiter(Waiter::Member(member.clone())) {
            set.drop_member(&member);
            return Err(error);
        }
        set.watch(&member, socket);
        if event_of_bits(socket.readiness()) & (interest.events | ALWAYS) != 0 {
            set.ready.put(member);
        }
        Ok(())
    }

    fn drop_member(&self, member: &Member) {
        let mut members = self.members.lock();
        if members.get(&member.fd).is_some_and(|found| found.number == member.number) {
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
}
