// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! One transfer on whatever carries the socket: the kernel's call or librdmacm's, counted, with the
//! errno and the signal that TCP would give.
//!
//! # Safety
//! raise(3) without pointers.
#![allow(unsafe_code)]

use crate::carrier::claim::claim_for;
use crate::carrier::{connect, datagram, pending};
use crate::sys::errno::fail;
use crate::table::counts::Direction;
use crate::table::descriptors::known;
use crate::table::socket::{Mode, Socket};
use base::arc::Arc;
use base::errno::{Errno, preserve_errno};
use libc::{MSG_DONTWAIT, MSG_NOSIGNAL, MSG_PEEK, c_int, ssize_t};

/// Which call makes a transfer.
pub(super) enum Side {
    Kernel,
    Rdma(c_int),
    Refused(Errno),
}

/// Claims and connects the socket as far as the transfer needs, and says what carries it.
pub(super) fn side(socket: &Arc<Socket>, fd: c_int, direction: Direction, flags: c_int) -> Side {
    claim_for(socket, direction);
    if direction == Direction::In {
        datagram::expect(socket, fd);
    }
    if socket.mode() == Mode::Connecting {
        preserve_errno(|| pending::drive(socket));
    }
    if socket.mode() == Mode::Connecting {
        if flags & MSG_DONTWAIT != 0 || socket.is_non_blocking() {
            return Side::Refused(Errno::EAGAIN);
        }
        if let Err(error) = connect::wait_until_settled(socket) {
            return Side::Refused(error);
        }
    }
    match socket.mode() {
        Mode::Rdma => match socket.rsocket() {
            Some(rsocket) => Side::Rdma(rsocket),
            // The parent's, which librdmacm sends from.
            None if direction == Direction::Out && !socket.is_stream() => {
                Side::Rdma(socket.any_rsocket())
            }
            None => Side::Refused(Errno::EPERM),
        },
        Mode::Failed => match socket.state.lock().error.take() {
            Some(error) => Side::Refused(error),
            None => Side::Kernel,
        },
        _ => Side::Kernel,
    }
}

/// Makes a transfer on any descriptor.
pub(crate) fn transfer(
    fd: c_int,
    direction: Direction,
    flags: c_int,
    by_kernel: impl FnOnce() -> ssize_t,
    by_rdma: impl FnOnce(c_int, &Socket) -> ssize_t,
) -> ssize_t {
    match known(fd) {
        None => by_kernel(),
        Some(socket) => carry(socket, fd, direction, flags, by_kernel, by_rdma),
    }
}

/// Makes a transfer on a socket. Not inlined, so that the call on an ordinary descriptor stays
/// short.
#[inline(never)]
pub(super) fn carry(
    socket: Arc<Socket>,
    fd: c_int,
    direction: Direction,
    flags: c_int,
    by_kernel: impl FnOnce() -> ssize_t,
    by_rdma: impl FnOnce(c_int, &Socket) -> ssize_t,
) -> ssize_t {
    let (rdma, result) = match side(&socket, fd, direction, flags) {
        Side::Kernel => (socket.mode() == Mode::Relayed, by_kernel()),
        Side::Rdma(rsocket) => (true, by_rdma(rsocket, &socket)),
        Side::Refused(error) => return fail(error) as ssize_t,
    };
    if flags & MSG_PEEK == 0 || direction == Direction::Out {
        socket.count(direction, rdma, result);
    }
    if socket.mode() == Mode::Rdma && result < 0 {
        use_errno_of_tcp();
        if direction == Direction::Out && flags & MSG_NOSIGNAL == 0 {
            raise_sigpipe(&socket);
        }
    }
    result
}

/// TCP reports every lost connection as a reset.
fn use_errno_of_tcp() {
    if matches!(Errno::last(), Errno::EPROTO | Errno::EIO | Errno::ENODEV) {
        fail(Errno::ECONNRESET);
    }
}

/// After EPIPE a kernel socket raises the signal; an rsocket does not.
pub(super) fn raise_sigpipe(socket: &Socket) {
    if socket.is_stream() && Errno::last() == Errno::EPIPE {
        // SAFETY: no pointers.
        preserve_errno(|| unsafe { libc::raise(libc::SIGPIPE) });
    }
}
