// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! poll over descriptors of both kinds. If no rsocket is among them, libc's own call is made.
//!
//! # Safety
//! Live arrays, times and signal masks.
#![allow(unsafe_code)]

use crate::carrier::{claim, datagram, pending, rdma_listener};
use crate::epoll::instance::note_polled;
use crate::sys::{librdmacm, original, repoll};
use crate::table::counts::Direction;
use crate::table::descriptors::SOCKETS;
use crate::table::socket::{Mode, Socket};
use alloc::vec::Vec;
use base::arc::Arc;
use base::deadline::Deadline;
use base::errno::{Errno, Result, preserve_errno};
use base::memory::{try_push, try_vec};
use libc::{EPOLL_CTL_ADD, POLLERR, POLLIN, POLLNVAL, POLLRDNORM, c_int, pollfd, sigset_t};

/// Whether events of a descriptor come from an rsocket, or a call here makes one.
pub(super) fn needs_rpoll(fd: c_int) -> bool {
    let Some(socket) = SOCKETS.get(fd) else {
        note_polled(fd);
        return false;
    };
    matches!(socket.mode(), Mode::Listening | Mode::Connecting | Mode::Rdma | Mode::Failed)
        || !socket.is_stream() && socket.mode() == Mode::Open
}

pub(crate) fn any_needs_rpoll(fds: &[pollfd]) -> bool {
    fds.iter().any(|entry| entry.fd >= 0 && needs_rpoll(entry.fd))
}

/// The array that is really polled.
struct Plan {
    fds: Vec<pollfd>,
    /// For each, the index of the caller's entry that it stands for, and the socket if it is
    /// pending.
    stands_for: Vec<(usize, Option<Arc<Socket>>)>,
    /// Which of them are rsockets.
    by_rdma: Vec<bool>,
    /// Entries whose socket has an error that the kernel's socket does not have.
    failed: Vec<usize>,
    /// When a socket needs work without an event.
    deadline: Deadline,
}

impl Plan {
    fn of(entries: &[pollfd]) -> Result<Plan> {
        // A listener has two.
        let most = entries.len().saturating_mul(2);
        let mut plan = Plan {
            fds: try_vec(most)?,
            stands_for: try_vec(most)?,
            by_rdma: try_vec(most)?,
            failed: Vec::new(),
            deadline: Deadline::Never,
        };
        for (index, entry) in entries.iter().enumerate() {
            let socket = if entry.fd >= 0 { SOCKETS.get(entry.fd) } else { None };
            match socket {
                Some(socket) => plan.add_socket(index, entry, socket)?,
                None => {
                    note_polled(entry.fd);
                    plan.add(index, entry.fd, entry.events);
                }
            }
        }
        Ok(plan)
    }

    fn add(&mut self, index: usize, fd: c_int, events: i16) {
        self.fds.push(pollfd { fd, events, revents: 0 });
        self.stands_for.push((index, None));
        self.by_rdma.push(false);
    }

    fn add_rsocket(&mut self, index: usize, fd: c_int, events: i16, pending: Option<Arc<Socket>>) {
        self.fds.push(pollfd { fd, events, revents: 0 });
        self.stands_for.push((index, pending));
        self.by_rdma.push(true);
    }

    fn add_socket(&mut self, index: usize, entry: &pollfd, socket: Arc<Socket>) -> Result<()> {
        let reads = entry.events & (POLLIN | POLLRDNORM) != 0;
        claim::claim_for(&socket, if reads { Direction::In } else { Direction::Out });
        datagram::expect(&socket, entry.fd);
        pending::drive(&socket);
        let mode = socket.mode();
        if mode == Mode::Listening {
            if reads {
                let retry = rdma_listener::prepare(&socket, entry.fd);
                self.deadline = self.deadline.earlier(retry);
            }
            self.add(index, entry.fd, entry.events);
        }
        match (mode, socket.rsocket()) {
            (Mode::Listening | Mode::Rdma, Some(rsocket)) => {
                self.add_rsocket(index, rsocket, entry.events, None);
            }
            (Mode::Connecting, Some(rsocket)) => {
                let limit = socket.state.lock().deadline;
                self.deadline = self.deadline.earlier(limit);
                self.add_rsocket(index, rsocket, entry.events, Some(socket));
            }
            (Mode::Listening, None) => {}
            (Mode::Failed, _) => {
                if socket.state.lock().error.is_some() {
                    try_push(&mut self.failed, index)?;
                }
                self.add(index, entry.fd, entry.events);
            }
            _ => self.add(index, entry.fd, entry.events),
        }
        Ok(())
    }

    /// Stores the events in the caller's array, and counts its ready entries. None if the plan is
    /// out of date.
    fn store(&self, entries: &mut [pollfd]) -> Option<usize> {
        for entry in entries.iter_mut() {
            entry.revents = 0;
        }
        let rows = self.fds.iter().zip(&self.by_rdma).zip(&self.stands_for);
        for ((found, &by_rdma), (index, pending_socket)) in rows {
            if found.revents == 0 {
                continue;
            }
            if by_rdma && found.revents & POLLNVAL != 0 {
                // An RDMA listener was given up meanwhile.
                return None;
            }
            let entry = entries.get_mut(*index)?;
            if let Some(socket) = pending_socket {
                pending::drive(socket);
                if socket.mode() != Mode::Rdma {
                    return None;
                }
            }
            entry.revents |= found.revents;
        }
        for index in &self.failed {
            entries.get_mut(*index)?.revents |= POLLERR;
        }
        Some(entries.iter().filter(|entry| entry.revents != 0).count())
    }
}

/// poll(2) with at least one entry that needs rpoll.
pub(crate) fn poll(
    entries: &mut [pollfd],
    deadline: Deadline,
    mask: Option<&sigset_t>,
) -> Result<usize> {
    loop {
        let mut plan = preserve_errno(|| Plan::of(entries))?;
        let until = deadline.earlier(plan.deadline);
        match mask {
            Some(mask) => poll_with_mask(&mut plan, until, mask)?,
            None => preserve_errno(|| librdmacm::poll(&mut plan.fds, until.left_millis()))?,
        };
        match preserve_errno(|| plan.store(entries)) {
            Some(0) | None if !deadline.has_passed() => {}
            ready => return Ok(ready.unwrap_or(0)),
        }
    }
}

/// The signal mask and the wait must be one step, so the kernel's ppoll waits, with the rsockets in
/// a set.
fn poll_with_mask(plan: &mut Plan, until: Deadline, mask: &sigset_t) -> Result<usize> {
    let fds = &mut plan.fds;
    let Ok(set) = Set::of(fds, &plan.by_rdma) else { return poll_after_mask(fds, until, mask) };
    let mut entries: Vec<pollfd> = try_vec(fds.len() + 1)?;
    entries.extend(
        fds.iter()
            .zip(&plan.by_rdma)
            .map(|(entry, by_rdma)| pollfd { fd: if *by_rdma { -1 } else { entry.fd }, ..*entry }),
    );
    entries.push(pollfd { fd: set.0, events: POLLIN, revents: 0 });
    let span = until.left_timespec();
    let span = span.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: a live array, live or no time, a live mask.
    let ready =
        unsafe { original::ppoll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, span, mask) };
    if ready < 0 {
        return Err(Errno::last());
    }
    preserve_errno(|| librdmacm::poll(fds, 0))
}

/// Without sets: a signal between setting the mask and the wait ends the wait late.
fn poll_after_mask(fds: &mut [pollfd], until: Deadline, mask: &sigset_t) -> Result<usize> {
    // SAFETY: live masks.
    unsafe {
        let mut before: sigset_t = core::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, &raw mut before);
        let answer = librdmacm::poll(fds, until.left_millis());
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, core::ptr::null_mut());
        answer
    }
}

/// A set of rsockets for one wait.
struct Set(c_int);

impl Set {
    fn of(fds: &[pollfd], by_rdma: &[bool]) -> Result<Set> {
        let set = Set(repoll::create()?);
        for (entry, _) in fds.iter().zip(by_rdma).filter(|(_, by_rdma)| **by_rdma) {
            let events = entry.events as u16 as u32;
            match repoll::control(set.0, EPOLL_CTL_ADD, entry.fd, events, 0) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(set)
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        preserve_errno(|| librdmacm::close(self.0));
    }
}
