// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A relay: the thread that moves bytes between a connection over RDMA and a Unix socket, whose
//! other end is in the hands of the program or of another process.
//!
//! # Safety
//! System calls on descriptors that are owned here, with buffers that are owned here.
#![allow(unsafe_code)]

use super::connection_end;
use crate::sys::guard::Inside;
use crate::sys::{librdmacm, original};
use crate::table::counts::Direction;
use crate::table::socket::Socket;
use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::{Errno, Result};
use base::memory::try_vec;
use base::thread;
use libc::{
    MSG_DONTWAIT, MSG_NOSIGNAL, POLLERR, POLLHUP, POLLIN, POLLOUT, SHUT_WR, c_int, c_void, pollfd,
};

const BUFFER_SIZE: usize = 64 << 10;
const STACK_SIZE: usize = 128 << 10;

/// What a relay reports. Each function is called with this process's end of the Unix socket.
#[derive(Clone, Copy)]
pub(super) struct RelayObserver {
    /// The other end is closed for writing, and all it wrote is with the peer.
    pub(super) flushed: fn(c_int),
    /// The relay ends. It closes its end next.
    pub(super) ended: fn(c_int),
}

impl RelayObserver {
    pub(super) const NONE: RelayObserver = RelayObserver { flushed: |_| {}, ended: |_| {} };
}

/// Starts the thread, which owns `end` from then on; on failure it is closed.
pub(super) fn start(socket: Arc<Socket>, end: c_int, observer: RelayObserver) -> Result<()> {
    let flows = match (Flow::new(), Flow::new()) {
        (Ok(inward), Ok(outward)) => [inward, outward],
        _ => {
            original::close_own(end);
            return Err(Errno::ENOMEM);
        }
    };
    connection_end::enter(end);
    let started = thread::spawn_small(c"rs-relay", STACK_SIZE, move || {
        let _inside = Inside::enter();
        if let Some(rsocket) = socket.rsocket() {
            relay(&socket, rsocket, end, flows, observer);
        }
        drop(socket);
        (observer.ended)(end);
        connection_end::close(end);
    });
    started.inspect_err(|_| connection_end::close(end))
}

/// One direction: bytes that were read and not yet written.
struct Flow {
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// The reading side is at end-of-file.
    ended: bool,
}

impl Flow {
    fn new() -> Result<Flow> {
        let mut buffer = try_vec(BUFFER_SIZE)?;
        buffer.resize(BUFFER_SIZE, 0);
        Ok(Flow { buffer, from: 0, to: 0, ended: false })
    }

    fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Reads into the empty buffer; false on an error.
    fn fill(&mut self, read: impl FnOnce(*mut c_void, usize) -> isize) -> bool {
        let count = read(self.buffer.as_mut_ptr().cast(), self.buffer.len());
        match usize::try_from(count) {
            Ok(0) => self.ended = true,
            Ok(count) => (self.from, self.to) = (0, count),
            Err(_) => return matches!(Errno::last(), Errno::EAGAIN | Errno::EINTR),
        }
        true
    }

    /// Writes what is there; false on an error.
    fn drain(&mut self, write: impl FnOnce(*const c_void, usize) -> isize) -> bool {
        let bytes = self.buffer.get(self.from..self.to).unwrap_or_default();
        match usize::try_from(write(bytes.as_ptr().cast(), bytes.len())) {
            Ok(count) => self.from += count,
            Err(_) => return matches!(Errno::last(), Errno::EAGAIN | Errno::EINTR),
        }
        true
    }
}

/// Moves bytes in both directions until the other end of the Unix socket is closed.
fn relay(socket: &Socket, rsocket: c_int, unix: c_int, flows: [Flow; 2], observer: RelayObserver) {
    let [mut inward, mut outward] = flows;
    loop {
        // The event that a flow waits for: of its source when it is empty, of its target when not.
        let wanted = |flow: &Flow, empty, full| match flow.is_empty() {
            true if flow.ended => 0,
            true => empty,
            false => full,
        };
        let mut fds = [
            pollfd {
                fd: rsocket,
                events: wanted(&inward, POLLIN, 0) | wanted(&outward, 0, POLLOUT),
                revents: 0,
            },
            pollfd {
                fd: unix,
                events: wanted(&inward, 0, POLLOUT) | wanted(&outward, POLLIN, 0),
                revents: 0,
            },
        ];
        // POLLHUP, which is always reported, must not make this loop spin.
        if fds[0].events == 0 {
            fds[0].fd = -1;
        }
        if fds[1].events == 0 && !outward.is_empty() {
            fds[1].fd = -1;
        }
        if librdmacm::poll(&mut fds, -1).is_err() && Errno::last() != Errno::EINTR {
            return;
        }
        let [of_rsocket, of_unix] = fds.map(|polled| polled.revents);
        let mut alive = true;
        // What was read just now is written at once, and mostly taken.
        let mut writes_unix = of_unix & (POLLOUT | POLLERR) != 0;
        let mut writes_rsocket = of_rsocket & (POLLOUT | POLLERR) != 0;
        if of_rsocket != 0 && inward.is_empty() && !inward.ended {
            alive &= inward.fill(|to, length| {
                // SAFETY: room of that length.
                let count = unsafe { librdmacm::rrecv(rsocket, to, length, MSG_DONTWAIT) };
                socket.count(Direction::In, true, count);
                count
            });
            writes_unix = true;
            if inward.ended {
                // SAFETY: no pointers.
                unsafe { original::shutdown(unix, SHUT_WR) };
            }
        }
        if of_unix != 0 && outward.is_empty() && !outward.ended {
            // SAFETY: room of that length.
            alive &= outward
                .fill(|to, length| unsafe { original::recv(unix, to, length, MSG_DONTWAIT) });
            writes_rsocket = true;
            if outward.ended && of_unix & (POLLHUP | POLLERR) == 0 {
                // SAFETY: no pointers. The other end was shut down, not closed.
                unsafe { librdmacm::rshutdown(rsocket, SHUT_WR) };
            }
            if outward.ended {
                (observer.flushed)(unix);
            }
        }
        if writes_unix && !inward.is_empty() {
            alive &= inward.drain(|from, length| {
                // SAFETY: live bytes.
                unsafe { original::send(unix, from, length, MSG_DONTWAIT | MSG_NOSIGNAL) }
            });
        }
        if writes_rsocket && !outward.is_empty() {
            alive &= outward.drain(|from, length| {
                // SAFETY: live bytes.
                let count =
                    unsafe { librdmacm::rsend(rsocket, from, length, MSG_DONTWAIT | MSG_NOSIGNAL) };
                socket.count(Direction::Out, true, count);
                count
            });
        }
        let closed = of_unix & POLLHUP != 0 && outward.ended && outward.is_empty();
        if !alive || closed {
            return;
        }
    }
}
