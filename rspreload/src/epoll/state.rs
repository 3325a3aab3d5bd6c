//! The registrations of one instance, and where each of them is.
//!
//! # Safety
//! timerfd calls on live values; the timer is owned here.
#![allow(unsafe_code)]

use super::{OWN, TIMER, kernel};
use crate::counted::Weak;
use crate::error::{Errno, Result};
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, Socket};
use crate::wait::Deadline;
use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLEXCLUSIVE, EPOLLIN, c_int, timespec};
use std::collections::HashMap;
use std::time::Instant;

/// What the program asked for, and where that is.
pub(super) struct Registration {
    pub(super) fd: c_int,
    pub(super) socket: Weak<Socket>,
    pub(super) events: u32,
    pub(super) data: u64,
    pub(super) in_kernel: bool,
    /// The set and the rsocket in it.
    pub(super) in_set: Option<(c_int, c_int)>,
    /// A one-shot event has been told.
    pub(super) spent: bool,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) fds: Vec<c_int>,
    pub(super) next_key: u64,
    pub(super) registrations: HashMap<u64, Registration>,
    pub(super) keys: HashMap<c_int, u64>,
    /// Mostly one; a second where an rsocket is registered twice, under copies of its descriptor.
    pub(super) sets: Vec<c_int>,
    /// Registrations of sockets whose RDMA listener is to be made.
    pub(super) unsettled: Vec<u64>,
    pub(super) timer: Option<c_int>,
    pub(super) timer_at: Option<Instant>,
}

impl State {
    fn instance(&self) -> Result<c_int> {
        self.fds.first().copied().ok_or(Errno::EBADF)
    }

    pub(super) fn forget(&mut self, key: u64) {
        let Some(registration) = self.registrations.remove(&key) else { return };
        if self.keys.get(&registration.fd) == Some(&key) {
            self.keys.remove(&registration.fd);
        }
        self.unsettled.retain(|other| *other != key);
        if let (true, Ok(instance)) = (registration.in_kernel, self.instance()) {
            // Gone already where the descriptor was closed.
            let _ = kernel(instance, EPOLL_CTL_DEL, registration.fd, 0, 0);
        }
        if let Some((set, rsocket)) = registration.in_set {
            let _ = rsockets::control_set(set, EPOLL_CTL_DEL, rsocket, 0, 0);
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
        let events = if registration.spent { 0 } else { registration.events };
        let by_kernel = !matches!(mode, Mode::Connecting | Mode::Rdma);
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
        self.place_in_set(key, wanted, events & !(EPOLLEXCLUSIVE as u32))?;
        let settled = match mode {
            Mode::Listening => rsocket.is_some() || socket.state.lock().never,
            Mode::Open => socket.is_stream() || !socket.state.lock().bound,
            _ => true,
        };
        self.unsettled.retain(|other| *other != key);
        if !settled {
            self.unsettled.push(key);
        }
        Ok(())
    }

    fn place_in_set(&mut self, key: u64, wanted: Option<c_int>, events: u32) -> Result<()> {
        let Some(registration) = self.registrations.get_mut(&key) else { return Ok(()) };
        let before = registration.in_set;
        if let Some((set, rsocket)) = before {
            if wanted == Some(rsocket) {
                return rsockets::control_set(set, EPOLL_CTL_MOD, rsocket, events, key);
            }
            let _ = rsockets::control_set(set, EPOLL_CTL_DEL, rsocket, 0, 0);
            registration.in_set = None;
        }
        let Some(rsocket) = wanted else { return Ok(()) };
        for index in 0.. {
            let set = match self.sets.get(index) {
                Some(set) => *set,
                None => self.add_set()?,
            };
            match rsockets::control_set(set, EPOLL_CTL_ADD, rsocket, events, key) {
                Err(Errno::EEXIST) => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    if let Some(registration) = self.registrations.get_mut(&key) {
                        registration.in_set = Some((set, rsocket));
                    }
                    break;
                }
            }
        }
        Ok(())
    }

    fn add_set(&mut self) -> Result<c_int> {
        let set = rsockets::create_set()?;
        let data = OWN | u64::from(set.unsigned_abs());
        if let Err(error) = kernel(self.instance()?, EPOLL_CTL_ADD, set, EPOLLIN as u32, data) {
            rsockets::close(set);
            return Err(error);
        }
        self.sets.push(set);
        Ok(set)
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

    pub(super) fn set_timer(&mut self, at: Deadline) {
        if at == self.timer_at {
            return;
        }
        let Ok(timer) = self.timer() else { return };
        let zero = timespec { tv_sec: 0, tv_nsec: 0 };
        let value = at.map_or(zero, |at| {
            let left = at.saturating_duration_since(Instant::now());
            timespec {
                tv_sec: left.as_secs() as libc::time_t,
                // Zero would stop it.
                tv_nsec: libc::c_long::from(left.subsec_nanos().max(1)),
            }
        });
        let value = libc::itimerspec { it_interval: zero, it_value: value };
        // SAFETY: a live value.
        unsafe { libc::timerfd_settime(timer, 0, &raw const value, std::ptr::null_mut()) };
        self.timer_at = at;
    }

    fn timer(&mut self) -> Result<c_int> {
        if let Some(timer) = self.timer {
            return Ok(timer);
        }
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: no pointers.
        let timer =
            rsockets::checked(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) })?;
        if let Err(error) = kernel(self.instance()?, EPOLL_CTL_ADD, timer, EPOLLIN as u32, TIMER) {
            // SAFETY: made above.
            unsafe { real::close(timer) };
            return Err(error);
        }
        self.timer = Some(timer);
        Ok(timer)
    }
}
