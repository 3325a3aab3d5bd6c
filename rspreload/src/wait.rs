//! poll and select over sockets of both kinds. Without an rsocket among them the call is libc's.
//!
//! # Safety
//! The caller's arrays, sets and times.
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
use libc::{
    EPOLL_CTL_ADD, FD_SETSIZE, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDNORM,
    POLLWRNORM, c_int, c_ulong, fd_set, pollfd, sigset_t, timespec,
};
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
fn needs_us(fd: c_int) -> bool {
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

/// What select calls readable, writable, exceptional.
const READABLE: i16 = POLLIN | POLLRDNORM | POLLHUP | POLLERR;
const WRITABLE: i16 = POLLOUT | POLLWRNORM | POLLERR;

/// As the kernel, no more bits than there are descriptors, whatever the caller says: its sets may be
/// shorter than the table could grow.
pub(crate) fn bits_in_use(count: c_int) -> c_int {
    if count <= FD_SETSIZE as c_int {
        return count;
    }
    let size = quietly(|| std::fs::read_to_string("/proc/self/status")).ok().and_then(|status| {
        status.lines().find_map(|line| line.strip_prefix("FDSize:")?.trim().parse().ok())
    });
    count.min(size.unwrap_or(FD_SETSIZE as c_int))
}

/// The caller's three sets as places to poll; None where none of them needs us.
///
/// # Safety
/// The caller's sets, each NULL or with bits for `count` descriptors.
pub(crate) unsafe fn places_of(count: c_int, sets: [*mut fd_set; 3]) -> Option<Vec<pollfd>> {
    // SAFETY: by contract.
    if !unsafe { any_bit_needs_us(count, sets) } {
        return None;
    }
    let mut places = Vec::new();
    for fd in 0..count {
        let mut events = 0;
        for (set, event) in sets.iter().zip([POLLIN, POLLOUT, POLLPRI]) {
            // SAFETY: by contract.
            if !set.is_null() && unsafe { has_bit(*set, fd) } {
                events |= event;
            }
        }
        if events != 0 {
            places.push(pollfd { fd, events, revents: 0 });
        }
    }
    Some(places)
}

/// # Safety
/// As for `places_of`.
unsafe fn any_bit_needs_us(count: c_int, sets: [*mut fd_set; 3]) -> bool {
    let width = c_ulong::BITS as c_int;
    (0..count).step_by(width as usize).any(|first| {
        let given = sets.into_iter().filter(|set| !set.is_null());
        // SAFETY: by contract.
        let mut bits = given.fold(0, |all, set| all | unsafe { *word_of(set, first) });
        if count - first < width {
            bits &= (1 << (count - first)) - 1;
        }
        while bits != 0 {
            if needs_us(first + bits.trailing_zeros() as c_int) {
                return true;
            }
            bits &= bits - 1;
        }
        false
    })
}

/// # Safety
/// As for `places_of`.
pub(crate) unsafe fn select(
    count: c_int,
    sets: [*mut fd_set; 3],
    places: &mut [pollfd],
    deadline: Deadline,
    mask: Option<&sigset_t>,
) -> Result<c_int> {
    loop {
        poll(places, deadline, mask)?;
        if places.iter().any(|place| place.revents & POLLNVAL != 0) {
            return Err(Errno::EBADF);
        }
        // A hang-up of what is only asked for writing is nothing to select.
        let told: c_int = places
            .iter()
            .map(|place| bits_of(place).iter().filter(|bit| **bit).count() as c_int)
            .sum();
        if told > 0 || has_passed(deadline) {
            // SAFETY: by contract.
            unsafe { store(count, sets, places) };
            return Ok(told);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn bits_of(place: &pollfd) -> [bool; 3] {
    let asked = |event, answers| place.events & event != 0 && place.revents & answers != 0;
    [asked(POLLIN, READABLE), asked(POLLOUT, WRITABLE), asked(POLLPRI, POLLPRI)]
}

unsafe fn store(count: c_int, sets: [*mut fd_set; 3], places: &[pollfd]) {
    // SAFETY: by contract.
    unsafe {
        for set in sets.into_iter().filter(|set| !set.is_null()) {
            for fd in 0..count {
                set_bit(set, fd, false);
            }
        }
        for place in places {
            for (set, on) in sets.into_iter().zip(bits_of(place)) {
                if on && !set.is_null() {
                    set_bit(set, place.fd, true);
                }
            }
        }
    }
}

/// The caller's fd_set may be longer than FD_SETSIZE: programs make their own.
unsafe fn word_of(set: *mut fd_set, fd: c_int) -> *mut c_ulong {
    // SAFETY: by contract.
    unsafe { set.cast::<c_ulong>().add((fd.unsigned_abs() / c_ulong::BITS) as usize) }
}

unsafe fn has_bit(set: *mut fd_set, fd: c_int) -> bool {
    // SAFETY: by contract.
    unsafe { *word_of(set, fd) >> (fd.unsigned_abs() % c_ulong::BITS) & 1 != 0 }
}

unsafe fn set_bit(set: *mut fd_set, fd: c_int, on: bool) {
    let bit = 1 << (fd.unsigned_abs() % c_ulong::BITS);
    // SAFETY: by contract.
    unsafe {
        let word = word_of(set, fd);
        *word = if on { *word | bit } else { *word & !bit };
    }
}
