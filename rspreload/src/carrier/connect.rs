// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! connect: over RDMA if a device leads to the peer and the peer answers in time, by TCP otherwise.
//!
//! # Safety
//! System calls on the program's descriptor with the program's address.
#![allow(unsafe_code)]

use super::pending::{self, Fallback};
use super::{background, change, datagram, dissolve, route};
use crate::sys::address::Address;
use crate::sys::errno::fail;
use crate::sys::{config, librdmacm, original, socket_option};
use crate::table::decision::{Place, Reason, Way};
use crate::table::descriptors::SOCKETS;
use crate::table::socket::{Mode, Socket};
use base::address::family_of;
use base::arc::Arc;
use base::deadline::Timeout;
use base::errno::{Errno, Result, preserve_errno};
use base::signal::restarts_after_signal;
use libc::{POLLOUT, SO_SNDTIMEO, c_int, pollfd, sockaddr, socklen_t};

/// # Safety
/// The caller's arguments of connect.
pub(crate) unsafe fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's.
    let kernel = || unsafe { original::connect(fd, address, length) };
    let Some(socket) = SOCKETS.get(fd) else { return kernel() };
    // The kernel reports what is no address, before anything else.
    if address.is_null() || length as usize > size_of::<libc::sockaddr_storage>() {
        return kernel();
    }
    // SAFETY: the caller's.
    let target = unsafe { Address::read(address, length) };
    if let (Mode::Rdma, false, Some(rsocket)) =
        (socket.mode(), socket.is_stream(), socket.rsocket())
    {
        // AF_UNSPEC ends the association with a peer.
        if target.is_none() {
            // SAFETY: the caller's.
            let answer = unsafe { librdmacm::rconnect(rsocket, address, length) };
            if answer == 0 {
                socket.state.lock().destination = None;
            }
            return answer;
        }
    }
    // SAFETY: the caller's.
    if socket.is_stream() && unsafe { is_unspecified(address, length) } {
        return dissolve::dissolve(&socket, kernel, |rsocket| {
            // SAFETY: the caller's.
            unsafe { librdmacm::rconnect(rsocket, address, length) }
        });
    }
    let Some(target) = target else { return kernel() };
    // The kernel refuses an address of another family, but for an IPv6 datagram socket.
    let is_foreign =
        target.family() != socket.family && (socket.is_stream() || socket.family == libc::AF_INET);
    if is_foreign && socket.mode() == Mode::Open {
        return kernel();
    }
    if !socket.is_stream() {
        return datagram::connect(&socket, fd, &target, kernel);
    }
    dissolve::renew(&socket);
    let connected = match socket.mode() {
        Mode::Open => first(&socket, fd, &target, kernel),
        Mode::Connecting => while_pending(&socket, kernel),
        Mode::Rdma => report_once(&socket),
        Mode::Relayed => Err(Errno::EISCONN),
        Mode::Failed => Err(failure(&socket)),
        Mode::Plain => {
            change::note_place(&socket, Place::To(target));
            return kernel();
        }
        Mode::Listening => return kernel(),
    };
    match connected {
        Ok(()) => 0,
        Err(error) => fail(error),
    }
}

/// # Safety
/// As for connect.
unsafe fn is_unspecified(address: *const sockaddr, length: socklen_t) -> bool {
    // SAFETY: by contract.
    unsafe { family_of(address, length as usize) == Some(libc::AF_UNSPEC) }
}

fn failure(socket: &Socket) -> Errno {
    socket.state.lock().error.take().unwrap_or(Errno::ECONNABORTED)
}

/// The first call after a connection was completed in the background succeeds, as in the kernel.
fn report_once(socket: &Socket) -> Result<()> {
    match core::mem::take(&mut socket.state.lock().unreported) {
        true => Ok(()),
        false => Err(Errno::EISCONN),
    }
}

fn first(
    socket: &Arc<Socket>,
    fd: c_int,
    target: &Address,
    kernel: impl Fn() -> c_int,
) -> Result<()> {
    let place = Place::To(*target);
    if let Err(reason) = preserve_errno(|| route::check_peer(target)) {
        if config::get().require_rdma {
            socket.decided(Way::Failed(reason), place);
            return Err(Errno::ENETUNREACH);
        }
        socket.decided(Way::Kernel(reason), place);
        return by_kernel(socket, kernel);
    }
    let is_non_blocking = socket.is_non_blocking();
    let timeout = match is_non_blocking {
        true => Timeout::NONE,
        false => preserve_errno(|| socket_option::timeout(fd, SO_SNDTIMEO)),
    };
    let deadline = timeout.begin();
    if let Err(error) = preserve_errno(|| pending::begin(socket, fd, target, timeout)) {
        let reason = Reason::Unavailable(error);
        if config::get().require_rdma {
            socket.decided(Way::Failed(reason), place);
            return Err(error);
        }
        socket.decided(Way::Kernel(reason), place);
        return by_kernel(socket, kernel);
    }
    if is_non_blocking {
        preserve_errno(|| background::watch(socket));
        return Err(Errno::EINPROGRESS);
    }
    wait(socket, || match deadline.left() {
        None => kernel(),
        Some(left) => socket_option::with_timeout(fd, SO_SNDTIMEO, left, &kernel),
    })
}

fn by_kernel(socket: &Socket, kernel: impl Fn() -> c_int) -> Result<()> {
    let answer = librdmacm::checked(kernel()).map(drop);
    if matches!(answer, Ok(()) | Err(Errno::EINPROGRESS)) {
        preserve_errno(|| change::to_plain(socket));
    }
    answer
}

fn while_pending(socket: &Arc<Socket>, kernel: impl Fn() -> c_int) -> Result<()> {
    preserve_errno(|| pending::drive(socket));
    match socket.mode() {
        Mode::Connecting if socket.is_non_blocking() => Err(Errno::EALREADY),
        Mode::Connecting => wait(socket, kernel),
        Mode::Rdma => report_once(socket),
        Mode::Failed => Err(failure(socket)),
        _ => librdmacm::checked(kernel()).map(drop),
    }
}

/// Waits for RDMA, and connects by TCP if that fails.
fn wait(socket: &Arc<Socket>, kernel: impl Fn() -> c_int) -> Result<()> {
    wait_for_rdma(socket, Fallback::CallerConnects)?;
    match (socket.mode(), socket.rsocket()) {
        (Mode::Rdma, Some(rsocket)) if socket.state.lock().dissolved => {
            let error = preserve_errno(|| librdmacm::take_error(rsocket));
            Err(error.unwrap_or(Errno::ECONNABORTED))
        }
        (Mode::Rdma, _) => {
            socket.state.lock().unreported = false;
            Ok(())
        }
        (Mode::Failed, _) => Err(failure(socket)),
        _ => by_kernel(socket, kernel),
    }
}

/// For a blocking call on a socket whose connection is pending.
pub(crate) fn wait_until_settled(socket: &Arc<Socket>) -> Result<()> {
    wait_for_rdma(socket, Fallback::Begin)
}

fn wait_for_rdma(socket: &Arc<Socket>, fallback: Fallback) -> Result<()> {
    loop {
        preserve_errno(|| pending::drive_to(socket, fallback));
        let (Mode::Connecting, Some(rsocket)) = (socket.mode(), socket.rsocket()) else {
            return Ok(());
        };
        let deadline = socket.state.lock().deadline;
        let mut fds = [pollfd { fd: rsocket, events: POLLOUT, revents: 0 }];
        match preserve_errno(|| librdmacm::poll(&mut fds, deadline.left_millis())) {
            Err(Errno::EINTR) if !restarts_after_signal() => {
                background::watch(socket);
                return Err(Errno::EINTR);
            }
            _ => {}
        }
    }
}
