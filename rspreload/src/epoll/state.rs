//! The registrations of one instance, and where each of them is.

use super::bells::Bells;
use super::kernel;
use super::members::Members;
use crate::counted::Weak;
use crate::error::{Errno, Result};
use crate::rsockets;
use crate::socket::{Mode, Socket};
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLET, EPOLLEXCLUSIVE, EPOLLONESHOT, c_int,
};
use std::collections::{BTreeMap, VecDeque};

/// What the program asked for, and where that is.
pub(super) struct Registration {
    pub(super) fd: c_int,
    pub(super) socket: Weak<Socket>,
    pub(super) events: u32,
    pub(super) data: u64,
    pub(super) in_kernel: bool,
    /// The rsocket in the set.
    pub(super) member: Option<c_int>,
    /// A one-shot event has been told.
    pub(super) spent: bool,
    /// The program has removed it. Many programs add it again at once, so it stays in the set until that
    /// tells of a change in vain.
    pub(super) rests: bool,
    /// It is on the list of those to be looked at.
    pub(super) is_due: bool,
    /// The round that told it last, and the place of the event.
    pub(super) told: (u64, usize),
}

impl Registration {
    pub(super) fn new(fd: c_int, socket: Weak<Socket>) -> Registration {
        let (events, data, told) = (0, 0, (0, 0));
        Registration {
            fd,
            socket,
            events,
            data,
            in_kernel: false,
            member: None,
            spent: false,
            rests: false,
            is_due: false,
            told,
        }
    }

    pub(super) fn is_level(&self) -> bool {
        self.events & (EPOLLET | EPOLLONESHOT) as u32 == 0
    }

    pub(super) fn is_active(&self) -> bool {
        !self.spent && !self.rests
    }
}

#[derive(Default)]
pub(super) struct State {
    pub(super) fds: Vec<c_int>,
    pub(super) next_key: u64,
    pub(super) registrations: BTreeMap<u64, Registration>,
    pub(super) keys: BTreeMap<c_int, u64>,
    pub(super) members: Members,
    /// Registrations that may have something to tell.
    pub(super) due: VecDeque<u64>,
    /// Registrations of sockets whose RDMA listener is to be made.
    pub(super) unsettled: Vec<u64>,
    pub(super) bells: Bells,
}

impl State {
    pub(super) fn instance(&self) -> Result<c_int> {
        self.fds.first().copied().ok_or(Errno::EBADF)
    }

    pub(super) fn make_due(&mut self, key: u64) {
        if let Some(registration) = self.registrations.get_mut(&key) {
            if registration.is_active() && !std::mem::replace(&mut registration.is_due, true) {
                self.due.push_back(key);
            }
        }
    }

    /// The socket is no more, or no more ours.
    pub(super) fn forget(&mut self, key: u64) {
        self.remove(key);
        self.leave_set(key);
        let Some(registration) = self.registrations.remove(&key) else { return };
        if self.keys.get(&registration.fd) == Some(&key) {
            self.keys.remove(&registration.fd);
        }
        if registration.is_due {
            self.due.retain(|other| *other != key);
        }
    }

    /// The program wants no more events of it.
    pub(super) fn remove(&mut self, key: u64) {
        self.unsettled.retain(|other| *other != key);
        let instance = self.instance();
        let Some(registration) = self.registrations.get_mut(&key) else { return };
        registration.rests = true;
        if let (true, Ok(instance)) = (std::mem::take(&mut registration.in_kernel), instance) {
            // Gone already where the descriptor was closed.
            let _ = kernel(instance, EPOLL_CTL_DEL, registration.fd, 0, 0);
        }
        if !rsockets::are_ours() {
            // It would tell for ever.
            self.leave_set(key);
        }
    }

    /// Leaves a registration to the kernel, which has it already.
    pub(super) fn release(&mut self, key: u64) {
        if let Some(registration) = self.registrations.get_mut(&key) {
            registration.in_kernel = false;
        }
        self.forget(key);
    }

    /// Puts a registration where its socket's events come from.
    pub(super) fn place(&mut self, key: u64, socket: &Socket) -> Result<()> {
        let instance = self.instance()?;
        let mode = socket.mode();
        let rsocket = socket.rsocket();
        let Some(registration) = self.registrations.get_mut(&key) else { return Ok(()) };
        let (fd, data) = (registration.fd, registration.data);
        let events = if registration.is_active() { registration.events } else { 0 };
        let by_kernel = !registration.rests && !matches!(mode, Mode::Connecting | Mode::Rdma);
        match (by_kernel, registration.in_kernel) {
            (true, false) => kernel(instance, EPOLL_CTL_ADD, fd, events, data)?,
            // The kernel refuses to change exclusive ones.
            (true, true) if events & EPOLLEXCLUSIVE as u32 == 0 => {
                kernel(instance, EPOLL_CTL_MOD, fd, events, data)?;
            }
            (true, true) => {}
            (false, true) => {
                let _ = kernel(instance, EPOLL_CTL_DEL, fd, 0, 0);
            }
            (false, false) => {}
        }
        registration.in_kernel = by_kernel;
        let wanted = match mode {
            Mode::Listening | Mode::Connecting | Mode::Rdma => rsocket,
            _ => None,
        };
        self.place_in_set(key, wanted)?;
        if wanted.is_some() {
            self.make_due(key);
        }
        let settled = match mode {
            Mode::Listening => rsocket.is_some() || socket.state.lock().never,
            Mode::Open => socket.is_stream() || !socket.state.lock().bound,
            _ => true,
        };
        self.unsettled.retain(|other| *other != key);
        if !settled && self.registrations.get(&key).is_some_and(|found| !found.rests) {
            self.unsettled.push(key);
        }
        Ok(())
    }

    /// Listeners that will never have an RDMA side need no more looks.
    pub(super) fn tidy(&mut self) {
        let State { unsettled, registrations, .. } = self;
        unsettled.retain(|key| {
            let socket = registrations.get(key).and_then(|found| found.socket.upgrade());
            socket.is_some_and(|socket| match socket.mode() {
                Mode::Listening => socket.rsocket().is_none() && !socket.state.lock().never,
                Mode::Open => true,
                _ => false,
            })
        });
    }
}
