// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Making a set, and what is in it: repoll_create, repoll_ctl, and the end of a set.

use super::ready_list::ReadyList;
use super::state::{Interest, Member, READY, Set, event_of_bits, key_of_ordinary};
use crate::rsocket::epoll::Epoll;
use crate::rsocket::wait::source::{Pollable, Waiter};
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::eventfd::EventFd;
use base::fail;
use base::fd::RawFd;
use base::lock::Mutex;
use base::memory::try_box;
use base::owner::Owner;
use base::sync::AtomicBool as ListedFlag;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLET, EPOLLEXCLUSIVE, EPOLLHUP,
    EPOLLIN, EPOLLOUT, EPOLLWAKEUP, c_int, epoll_event,
};

/// Events that are reported even if not requested.
pub(super) const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;

const EXCLUSIVE: u32 = EPOLLEXCLUSIVE as u32;
/// What the kernel takes together with EPOLLEXCLUSIVE.
const WITH_EXCLUSIVE: u32 =
    ALWAYS | EXCLUSIVE | (EPOLLIN | EPOLLOUT | EPOLLWAKEUP | EPOLLET) as u32;

fn is_valid_exclusive(operation: c_int, events: u32) -> bool {
    events & EXCLUSIVE == 0 || (operation == EPOLL_CTL_ADD && events & !WITH_EXCLUSIVE == 0)
}

impl<S: Pollable> Set<S> {
    pub(crate) fn new(flags: c_int) -> Result<Arc<Set<S>>> {
        let set = Set {
            owner: Owner::current(),
            epoll: Epoll::new(flags)?,
            is_closed: AtomicBool::new(false),
            turn: AtomicBool::new(false),
            next_number: AtomicU64::new(1),
            changes: Mutex::default(),
            members: Mutex::default(),
            ordinary: Mutex::default(),
            ready: ReadyList::new(EventFd::new()?),
        };
        set.kernel(EPOLL_CTL_ADD, set.ready.signal().as_raw_fd(), EPOLLIN as u32, READY)?;
        Arc::try_new(set)
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.epoll.fd()
    }

    /// The sockets forget the set; its descriptor goes with its last user.
    pub(crate) fn close(&self) {
        let _alone = self.changes.lock();
        let members = core::mem::take(&mut *self.members.lock());
        for member in members.into_values() {
            if let Some(socket) = member.socket.upgrade() {
                if let Ok(source) = socket.as_source() {
                    source.remove_waiter(member.identity());
                }
            }
        }
        self.is_closed.store(true, Ordering::Release);
        self.ready.signal().notify();
    }

    pub(crate) fn control(
        set: &Arc<Set<S>>,
        operation: c_int,
        fd: RawFd,
        event: Option<epoll_event>,
    ) -> Result<()> {
        if fd == set.fd() {
            return Err(fail!(EINVAL, "repoll_ctl: a set cannot hold itself"));
        }
        let interest = match (operation, event) {
            (EPOLL_CTL_DEL, _) => Interest::new(0, 0),
            (_, Some(event)) => Interest::new(event.events, event.u64),
            (_, None) => return Err(Errno::EFAULT),
        };
        if operation != EPOLL_CTL_DEL && !is_valid_exclusive(operation, interest.events) {
            return Err(fail!(
                EINVAL,
                "repoll_ctl: EPOLLEXCLUSIVE is for EPOLL_CTL_ADD, with EPOLLIN, EPOLLOUT and EPOLLET alone: \
                 operation {operation}, events {:#x}",
                interest.events
            ));
        }
        match S::find(fd) {
            Some(socket) if socket.is_open() => {
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
        set: &Arc<Set<S>>,
        operation: c_int,
        fd: RawFd,
        socket: &Arc<S>,
        interest: Interest,
    ) -> Result<()> {
        let _alone = set.changes.lock();
        if set.is_closed.load(Ordering::Acquire) {
            return Err(Errno::EBADF);
        }
        let known = set.member(fd);
        // A descriptor that was closed and is another socket now is not the one that was added.
        let known = known.filter(|member| member.socket.as_ptr() == Arc::as_ptr(socket));
        match (operation, known) {
            (EPOLL_CTL_ADD, None) => Set::add(set, fd, socket, interest),
            (EPOLL_CTL_ADD, Some(_)) => Err(Errno::EEXIST),
            (EPOLL_CTL_MOD, Some(member)) => {
                let is_exclusive = |old: &Interest| old.events & EXCLUSIVE != 0;
                if member.interest.lock().as_ref().is_some_and(is_exclusive) {
                    return Err(fail!(
                        EINVAL,
                        "repoll_ctl: fd {fd} was added with EPOLLEXCLUSIVE, which cannot be changed: remove \
                         and add it"
                    ));
                }
                *member.interest.lock() = Some(interest);
                set.ready.put(member);
                Ok(())
            }
            (EPOLL_CTL_DEL, Some(member)) => {
                socket.as_source()?.remove_waiter(member.identity());
                set.drop_member(&member);
                Ok(())
            }
            (EPOLL_CTL_MOD | EPOLL_CTL_DEL, None) => Err(Errno::ENOENT),
            _ => Err(fail!(EINVAL, "repoll_ctl: {operation} is no operation")),
        }
    }

    fn add(set: &Arc<Set<S>>, fd: RawFd, socket: &Arc<S>, interest: Interest) -> Result<()> {
        let member = Arc::try_new(Member {
            set: Arc::downgrade(set),
            number: set.next_number.fetch_add(1, Ordering::Relaxed),
            fd,
            socket: Arc::downgrade(socket),
            interest: Mutex::new(Some(interest)),
            listed: ListedFlag::new(false),
            watched: Mutex::new(-1),
        })?;
        let observer = Waiter::Observer(try_box(Arc::clone(&member))?);
        {
            let mut members = set.members.lock();
            members.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            set.ready.reserve(members.len() + 1)?;
            members.insert(fd, Arc::clone(&member));
        }
        if let Err(error) = socket.as_source()?.add_waiter(observer) {
            set.drop_member(&member);
            return Err(error);
        }
        set.watch(&member, socket);
        if event_of_bits(socket.readiness()) & (interest.events | ALWAYS) != 0 {
            set.ready.put(member);
        }
        Ok(())
    }
}
