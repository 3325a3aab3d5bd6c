//! poll over sockets of both kinds. Without an rsocket among them the call is libc's.
//!
//! # Safety
//! The caller's arrays and times.
#![allow(unsafe_code)]

use crate::connect;
use crate::counted::Counted;
use crate::epoll;
use crate::error::{Errno, Result, quietly};
use crate::fork;
use crate::listen;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS, Socket};
use libc::{EPOLL_CTL_ADD, POLLERR, POLLIN, c_int, pollfd, sigset_t, timespec};
use std::time::{Duration, Instant};

/// When a wait ends; None is never.
pub(crate) type Deadline = Option<Instant>;

/// Milliseconds that are left, rounded up; -1 for ever.
pub(crate) fn timeout_until(deadline: Deadline) -> c_int {
    let Some(deadline) = deadline else { return -1 };
    let left = deadline.saturating_duration_since(Instant::now());
    c_int::try_from(left.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX)
}

/// A caller's milliseconds; negative ones mean no limit.
pub(crate) fn deadline_ms(milliseconds: c_int) -> Deadline {
    let milliseconds = u64::try_from(milliseconds).ok()?;
    Instant::now().checked_add(Duration::from_millis(milliseconds))
}

/// A caller's time span; None also where it is further away than anything.
pub(crate) fn deadline_of(span: &timespec) -> Deadline {
    let seconds = u64::try_from(span.tv_sec).ok()?;
    let nanoseconds = u32::try_from(span.tv_nsec).ok()?;
    Instant::now().checked_add(Duration::new(seconds, nanoseconds))
}

pub(crate) fn has_passed(deadline: Deadline) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

pub(crate) fn earlier(one: Deadline, other: Deadline) -> Deadline {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Whether a call that a signal interrupted goes on: yes when every handler of the process was
/// installed with SA_RESTART.
#[cold]
pub(crate) fn restarts_after_signal() -> bool {
    (1..=64).all(|signal| {
        // SAFETY: integers, pointers and a mask, valid when zero; sigaction only asks.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut action) != 0 {
                return true;
            }
            action.sa_sigaction == libc::SIG_DFL
                || action.sa_sigaction == libc::SIG_IGN
                || action.sa_flags & libc::SA_RESTART != 0
        }
    })
}

/// Whether events of a descriptor come from anywhere but the kernel.
pub(crate) fn needs_us(fd: c_int) -> bool {
    let Some(socket) = SOCKETS.get(fd) else {
        epoll::waited_for(fd);
        return false;
    };
    matches!(socket.mode(), Mode::Listening | Mode::Connecting | Mode::Rdma | Mode::Failed)
        || !socket.is_stream() && socket.mode() == Mode::Open
}

pub(crate) fn any_needs_us(fds: &[pollfd]) -> bool {
    fds.iter().any(|place| place.fd >= 0 && needs_us(place.fd))
}

/// The places that are really waited for.
struct Plan {
    fds: Vec<pollfd>,
    /// For each, the place of the caller's that it stands for, and the socket that connects.
    meant: Vec<(usize, Option<Counted<Socket>>)>,
    /// Which of them are rsockets.
    by_rdma: Vec<bool>,
    /// Places whose socket has an error that the kernel's does not know.
    failed: Vec<usize>,
    /// When something is to be done although nothing has happened.
    deadline: Deadline,
}

impl Plan {
    fn of(places: &[pollfd]) -> Plan {
        let mut plan = Plan {
            fds: Vec::with_capacity(places.len()),
            meant: Vec::with_capacity(places.len()),
            by_rdma: Vec::with_capacity(places.len()),
            failed: Vec::new(),
            deadline: None,
        };
        for (index, place) in places.iter().enumerate() {
            let socket = if place.fd >= 0 { SOCKETS.get(place.fd) } else { None };
            match socket {
                Some(socket) => plan.add_socket(index, place, socket),
                None => {
                    epoll::waited_for(place.fd);
                    plan.add(index, place.fd, place.events);
                }
            }
        }
        plan
    }

    fn add(&mut self, index: usize, fd: c_int, events: i16) {
        self.fds.push(pollfd { fd, events, revents: 0 });
        self.meant.push((index, None));
        self.by_rdma.push(false);
    }

    fn add_rsocket(
        &mut self,
        index: usize,
        fd: c_int,
        events: i16,
        connecting: Option<Counted<Socket>>,
    ) {
        self.fds.push(pollfd { fd, events, revents: 0 });
        self.meant.push((index, connecting));
        self.by_rdma.push(true);
    }

    fn add_socket(&mut self, index: usize, place: &pollfd, socket: Counted<Socket>) {
        fork::claim(&socket);
        crate::datagram::expect(&socket, place.fd);
        connect::drive(&socket);
        let mode = socket.mode();
        if mode == Mode::Listening {
            let again = listen::prepare(&socket, place.fd);
            self.deadline = earlier(self.deadline, again);
            self.add(index, place.fd, place.events);
        }
        match (mode, socket.rsocket()) {
            (Mode::Listening | Mode::Rdma, Some(rsocket)) => {
                self.add_rsocket(index, rsocket, place.events, None);
            }
            (Mode::Connecting, Some(rsocket)) => {
                let limit = socket.state.lock().deadline;
                self.deadline = earlier(self.deadline, limit);
                self.add_rsocket(index, rsocket, place.events, Some(socket));
            }
            (Mode::Listening, None) => {}
            (Mode::Failed, _) => {
                if socket.state.lock().error.is_some() {
                    self.failed.push(index);
                }
                self.add(index, place.fd, place.events);
            }
            _ => self.add(index, place.fd, place.events),
        }
    }

    /// Tells the caller's places; how many are ready. None when the plan is out of date.
    fn tell(&self, places: &mut [pollfd]) -> Option<usize> {
        for place in places.iter_mut() {
            place.revents = 0;
        }
        for (found, (index, connecting)) in self.fds.iter().zip(&self.meant) {
            if found.revents == 0 {
                continue;
            }
            let place = places.get_mut(*index)?;
            if let Some(socket) = connecting {
                connect::drive(socket);
                if socket.mode() != Mode::Rdma {
                    return None;
                }
            }
            place.revents |= found.revents;
        }
        for index in &self.failed {
            places.get_mut(*index)?.revents |= POLLERR;
        }
        Some(places.iter().filter(|place| place.revents != 0).count())
    }
}

/// poll(2) where at least one place needs us.
pub(crate) fn poll(
    places: &mut [pollfd],
    deadline: Deadline,
    mask: Option<&sigset_t>,
) -> Result<usize> {
    loop {
        let mut plan = quietly(|| Plan::of(places));
        let until = earlier(deadline, plan.deadline);
        match mask {
            Some(mask) => poll_with_mask(&mut plan, until, mask)?,
            None => quietly(|| rsockets::poll(&mut plan.fds, timeout_until(until)))?,
        };
        match quietly(|| plan.tell(places)) {
            Some(0) | None if !has_passed(deadline) => {}
            told => return Ok(told.unwrap_or(0)),
        }
    }
}

/// The mask and the sleep are one step, so the sleep is the kernel's: rsockets wait in a set there.
fn poll_with_mask(plan: &mut Plan, until: Deadline, mask: &sigset_t) -> Result<usize> {
    let fds = &mut plan.fds;
    let Ok(set) = Set::of(fds, &plan.by_rdma) else { return poll_after_mask(fds, until, mask) };
    let mut places: Vec<pollfd> = fds
        .iter()
        .zip(&plan.by_rdma)
        .map(|(place, by_rdma)| pollfd { fd: if *by_rdma { -1 } else { place.fd }, ..*place })
        .collect();
    places.push(pollfd { fd: set.0, events: POLLIN, revents: 0 });
    let span = until.map(span_until);
    let span = span.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: a live array, live or no time, a live mask.
    let ready =
        unsafe { real::ppoll(places.as_mut_ptr(), places.len() as libc::nfds_t, span, mask) };
    if ready < 0 {
        return Err(Errno::last());
    }
    quietly(|| rsockets::poll(fds, 0))
}

fn span_until(until: Instant) -> timespec {
    let left = until.saturating_duration_since(Instant::now());
    timespec {
        tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: left.subsec_nanos().into(),
    }
}

/// What is left where librdmacm has no sets: a signal between the two steps ends the wait late.
fn poll_after_mask(fds: &mut [pollfd], until: Deadline, mask: &sigset_t) -> Result<usize> {
    // SAFETY: live masks.
    unsafe {
        let mut before: sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, &raw mut before);
        let answer = rsockets::poll(fds, timeout_until(until));
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        answer
    }
}

struct Set(c_int);

impl Set {
    fn of(fds: &[pollfd], by_rdma: &[bool]) -> Result<Set> {
        let set = Set(rsockets::create_set()?);
        for (place, _) in fds.iter().zip(by_rdma).filter(|(_, by_rdma)| **by_rdma) {
            let events = place.events as u16 as u32;
            match rsockets::control_set(set.0, EPOLL_CTL_ADD, place.fd, events, 0) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(set)
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        quietly(|| rsockets::close(self.0));
    }
}
