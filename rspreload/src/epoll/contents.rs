// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The registrations of one instance, and where each of them is: in the kernel's instance, in the
//! set of rsockets, or in both.

use super::kernel;
use super::registration::Registrations;
use super::rsocket_set::RsocketSet;
use super::wakeups::Wakeups;
use crate::sys::librdmacm;
use crate::table::socket::{Mode, Socket};
use alloc::vec::Vec;
use base::arc::Weak;
use base::deadline::Deadline;
use base::errno::{Errno, Result};
use base::memory::try_reserve;
use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLEXCLUSIVE, EPOLLIN, c_int};

#[derive(Default)]
pub(super) struct Contents {
    /// The program's descriptors of the instance.
    pub(super) fds: Vec<c_int>,
    pub(super) registrations: Registrations,
    pub(super) set: RsocketSet,
    /// Registrations whose RDMA listener or datagram rsocket has still to be made.
    pub(super) undecided: Vec<u64>,
    wakeups: Wakeups,
}

impl Contents {
    fn instance(&self) -> Result<c_int> {
        self.fds.first().copied().ok_or(Errno::EBADF)
    }

    /// Wakes a thread that waits in the instance.
    pub(super) fn notify(&mut self) {
        self.wakeups.notify(self.instance());
    }

    pub(super) fn take_notification(&mut self) {
        self.wakeups.take_notification();
    }

    pub(super) fn set_timer(&mut self, at: Deadline) {
        self.wakeups.set_timer(self.instance(), at);
    }

    pub(super) fn take_timer(&mut self) {
        self.wakeups.take_timer();
    }

    /// The instance was closed. What was taken out is closed by dropping it without the lock.
    pub(super) fn clear(&mut self) -> (RsocketSet, Wakeups) {
        self.registrations.clear();
        (core::mem::take(&mut self.set), core::mem::take(&mut self.wakeups))
    }

    /// A new registration, which is nowhere yet. With room for it wherever it may be listed.
    pub(super) fn add(&mut self, fd: c_int, socket: Weak<Socket>) -> Result<u64> {
        let room = (self.registrations.len() + 1).saturating_sub(self.undecided.len());
        try_reserve(&mut self.undecided, room)?;
        self.registrations.add(fd, socket)
    }

    /// Ends a registration whose socket has ended, or has left this library.
    pub(super) fn forget(&mut self, key: u64) {
        self.remove(key);
        self.set.remove(&mut self.registrations, key);
        self.registrations.forget(key);
    }

    /// The program removes a registration.
    pub(super) fn remove(&mut self, key: u64) {
        self.undecided.retain(|other| *other != key);
        let instance = self.instance();
        let Some(registration) = self.registrations.get_mut(key) else { return };
        registration.is_removed = true;
        if let (true, Ok(instance)) = (core::mem::take(&mut registration.in_kernel), instance) {
            // The kernel has removed it already if the descriptor was closed.
            let _ = kernel::control(instance, EPOLL_CTL_DEL, registration.fd, 0, 0);
        }
        if !librdmacm::is_own() {
            // Level-triggered there, it would wake threads again and again.
            self.set.remove(&mut self.registrations, key);
        }
    }

    /// Ends a registration and leaves it in the kernel's instance.
    pub(super) fn release(&mut self, key: u64) {
        if let Some(registration) = self.registrations.get_mut(key) {
            registration.in_kernel = false;
        }
        self.forget(key);
    }

    /// Puts a registration where the events of its socket come from now.
    pub(super) fn place(&mut self, key: u64, socket: &Socket) -> Result<()> {
        let instance = self.instance()?;
        let mode = socket.mode();
        let rsocket = socket.rsocket();
        let Some(registration) = self.registrations.get_mut(key) else { return Ok(()) };
        let (fd, data) = (registration.fd, registration.data);
        let events = if registration.is_active() { registration.events } else { 0 };
        let by_kernel = !registration.is_removed && !matches!(mode, Mode::Connecting | Mode::Rdma);
        match (by_kernel, registration.in_kernel) {
            (true, false) => kernel::control(instance, EPOLL_CTL_ADD, fd, events, data)?,
            // The kernel refuses to change exclusive registrations.
            (true, true) if events & EPOLLEXCLUSIVE as u32 == 0 => {
                kernel::control(instance, EPOLL_CTL_MOD, fd, events, data)?;
            }
            (true, true) => {}
            (false, true) => {
                let _ = kernel::control(instance, EPOLL_CTL_DEL, fd, 0, 0);
            }
            (false, false) => {}
        }
        registration.in_kernel = by_kernel;
        let wanted = match mode {
            Mode::Listening | Mode::Connecting | Mode::Rdma => rsocket,
            _ => None,
        };
        let is_told = self.set.place(&mut self.registrations, key, wanted, instance)?;
        if wanted.is_some() && !is_told {
            self.registrations.enqueue(key);
        }
        let is_decided = match mode {
            // Who does not wait for connections does not take them.
            Mode::Listening if events & EPOLLIN as u32 == 0 => true,
            Mode::Listening => rsocket.is_some() || !socket.state.lock().may_add_rdma_listener(),
            Mode::Open => socket.is_stream() || !socket.state.lock().bound,
            _ => true,
        };
        self.undecided.retain(|other| *other != key);
        if !is_decided && self.registrations.get(key).is_some_and(|found| !found.is_removed) {
            self.undecided.push(key);
        }
        Ok(())
    }

    /// Drops from the list what needs no more attempts.
    pub(super) fn retain_undecided(&mut self) {
        let Contents { undecided, registrations, .. } = self;
        undecided.retain(|key| {
            let socket = registrations.get(*key).and_then(|found| found.socket.upgrade());
            socket.is_some_and(|socket| match socket.mode() {
                Mode::Listening => {
                    socket.rsocket().is_none() && socket.state.lock().may_add_rdma_listener()
                }
                Mode::Open => true,
                _ => false,
            })
        });
    }
}
