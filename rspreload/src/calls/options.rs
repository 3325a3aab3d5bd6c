// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Socket options. One is set on the kernel's socket, which checks it, and then on the rsocket,
//! which may not have it.
//!
//! # Safety
//! The caller's values and lengths.
#![allow(unsafe_code)]

use crate::carrier::{change, claim, pending};
use crate::sys::connection_name::ConnectionName;
use crate::sys::errno::fail;
use crate::sys::{librdmacm, original};
use crate::table::decision::{Place, Reason, Way};
use crate::table::descriptors::SOCKETS;
use crate::table::setting::{SOL_RDMA, Setting};
use crate::table::socket::{Mode, Socket};
use base::arc::Arc;
use base::errno::{Errno, Result, preserve_errno};
use base::memory::{try_push, try_reserve};
use libc::{
    IPPROTO_TCP, SO_DOMAIN, SO_ERROR, SOL_SOCKET, TCP_INFO, TCP_MAXSEG, c_int, c_void, socklen_t,
};

/// TCP_MAXSEG, as TCP has it on Ethernet: programs size their messages by it.
const SEGMENT: c_int = 1448;
/// Rsockets have no option with a longer value.
const MAX_VALUE: usize = 128;

/// # Safety
/// The caller's arguments of setsockopt.
pub(crate) unsafe fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    let socket = SOCKETS.get(fd);
    // The connection itself is the parent's.
    let is_relayed = socket.as_ref().is_some_and(|socket| socket.mode() == Mode::Relayed);
    if is_relayed && level != SOL_SOCKET {
        return 0;
    }
    if let (Some(socket), SOL_RDMA) = (&socket, level) {
        // The kernel does not have these.
        let Some(rsocket) = socket.rsocket() else {
            // SAFETY: the caller's.
            return unsafe { original::setsockopt(fd, level, name, value, length) };
        };
        // SAFETY: the caller's.
        return unsafe { librdmacm::rsetsockopt(rsocket, level, name, value, length) };
    }
    if (level, name) == (SOL_SOCKET, libc::SO_ZEROCOPY) && socket.is_some() {
        // A program that gets it waits for notifications, which only the kernel's socket has.
        return fail(Errno::EOPNOTSUPP);
    }
    let is_connection = |socket: &Arc<Socket>| {
        matches!(socket.mode(), Mode::Connecting | Mode::Rdma) && socket.is_stream()
    };
    if (level, name) == (IPPROTO_TCP, libc::TCP_FASTOPEN)
        && !value.is_null()
        && socket.as_ref().is_some_and(is_connection)
    {
        // Of a listener, or of a socket that will connect.
        return fail(Errno::EINVAL);
    }
    // What can fail comes first.
    if let Some(socket) = &socket {
        let mut state = socket.state.lock();
        if let Err(error) = try_reserve(&mut state.settings, 1) {
            return fail(error);
        }
    }
    // SAFETY: the caller's.
    let answer = unsafe { original::setsockopt(fd, level, name, value, length) };
    if socket.is_none() && stands_for_tcp(fd, level, answer).is_some() {
        return 0;
    }
    let Some(socket) = socket.filter(|_| answer == 0 && !value.is_null()) else { return answer };
    if let (Mode::Open, Some(option)) = (socket.mode(), of_kernel_alone(level, name)) {
        preserve_errno(|| {
            socket.decided(Way::Kernel(Reason::Option(option)), Place::Unknown);
            change::to_plain(&socket);
        });
        return answer;
    }
    if length as usize <= MAX_VALUE {
        // SAFETY: readable for `length` bytes: the kernel has read them.
        let value = unsafe { core::slice::from_raw_parts(value.cast::<u8>(), length as usize) };
        let remembered =
            Setting::new(level, name, value).and_then(|setting| remember(&socket, setting));
        if let Err(error) = remembered {
            return fail(error);
        }
    }
    answer
}

/// Options whose purpose only the kernel's socket serves: a program that asks for one before the
/// socket has a peer or an address of a device keeps that socket.
fn of_kernel_alone(level: c_int, name: c_int) -> Option<&'static str> {
    /// <netinet/udp.h>, <linux/in.h>
    const SOL_UDP: c_int = libc::IPPROTO_UDP;
    const UDP_ENCAP: c_int = 100;
    const MCAST_JOIN_GROUP: c_int = 42;
    const MCAST_JOIN_SOURCE_GROUP: c_int = 46;
    const NAMES: [(c_int, c_int, &str); 11] = [
        (libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP, "IP_ADD_MEMBERSHIP"),
        (libc::IPPROTO_IP, libc::IP_ADD_SOURCE_MEMBERSHIP, "IP_ADD_SOURCE_MEMBERSHIP"),
        (libc::IPPROTO_IP, MCAST_JOIN_GROUP, "MCAST_JOIN_GROUP"),
        (libc::IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, "MCAST_JOIN_SOURCE_GROUP"),
        (libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP, "IPV6_ADD_MEMBERSHIP"),
        (libc::IPPROTO_IPV6, MCAST_JOIN_GROUP, "MCAST_JOIN_GROUP"),
        (libc::IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP, "MCAST_JOIN_SOURCE_GROUP"),
        (SOL_UDP, libc::UDP_SEGMENT, "UDP_SEGMENT"),
        (SOL_UDP, libc::UDP_GRO, "UDP_GRO"),
        (SOL_UDP, UDP_ENCAP, "UDP_ENCAP"),
        (IPPROTO_TCP, libc::TCP_MD5SIG, "TCP_MD5SIG"),
    ];
    let found = NAMES.iter().find(|row| (row.0, row.1) == (level, name));
    found.map(|(_, _, option)| *option)
}

/// Sets it on the rsocket, or on one that is made later.
fn remember(socket: &Socket, setting: Setting) -> Result<()> {
    if let Some(rsocket) = socket.rsocket() {
        preserve_errno(|| setting.apply(rsocket));
    }
    let mut state = socket.state.lock();
    state.settings.retain(|other| !setting.replaces(other));
    try_push(&mut state.settings, setting)
}

/// # Safety
/// The caller's arguments of getsockopt.
pub(crate) unsafe fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    let kernel = || unsafe { original::getsockopt(fd, level, name, value, length) };
    let Some(socket) = SOCKETS.get(fd) else {
        // SAFETY: the caller's.
        return unsafe { of_unknown(fd, level, name, value, length) };
    };
    let is_of_connection = (level, name) == (IPPROTO_TCP, TCP_INFO);
    if is_of_connection {
        // The other options are the kernel socket's, too: a look at one does not take bytes from
        // the parent.
        claim::claim(&socket);
    }
    if let (Mode::Relayed, Some(number)) = (socket.mode(), of_relayed(socket.family, level, name)) {
        // SAFETY: the caller's.
        return unsafe { store(number, value, length) };
    }
    if (level, name) == (SOL_SOCKET, SO_ERROR) {
        return match pending_error(&socket) {
            // SAFETY: the caller's.
            Some(error) => unsafe { store(error, value, length) },
            None => kernel(),
        };
    }
    let by_rdma = socket.mode() == Mode::Rdma;
    if by_rdma && socket.is_stream() && (level, name) == (IPPROTO_TCP, TCP_MAXSEG) {
        // SAFETY: the caller's.
        return unsafe { store(SEGMENT, value, length) };
    }
    match (socket.mode(), socket.rsocket()) {
        (Mode::Rdma | Mode::Connecting, Some(rsocket)) if is_of_connection || level == SOL_RDMA => {
            // SAFETY: the caller's.
            unsafe { librdmacm::rgetsockopt(rsocket, level, name, value, length) }
        }
        _ => kernel(),
    }
}

/// The connection of another process that an unknown descriptor stands for, if the kernel has given
/// the answer of a Unix socket to a question about TCP.
fn stands_for_tcp(fd: c_int, level: c_int, answer: c_int) -> Option<ConnectionName> {
    let is_refused = answer < 0 && Errno::last() == Errno::EOPNOTSUPP;
    if level == SOL_SOCKET || !is_refused {
        return None;
    }
    preserve_errno(|| ConnectionName::of(fd))
}

/// getsockopt of a descriptor that is no socket of this library.
///
/// # Safety
/// The caller's arguments of getsockopt.
unsafe fn of_unknown(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    let is_of_family = (level, name) == (SOL_SOCKET, SO_DOMAIN)
        || (level, name) == (SOL_SOCKET, libc::SO_PROTOCOL);
    // SAFETY: the caller's.
    unsafe {
        let room = if is_of_family { length.as_ref().copied() } else { None };
        let answer = original::getsockopt(fd, level, name, value, length);
        let connection = match (answer, room) {
            (0, Some(_)) => preserve_errno(|| ConnectionName::of(fd)),
            _ => stands_for_tcp(fd, level, answer),
        };
        match connection.and_then(|connection| of_relayed(connection.family, level, name)) {
            Some(number) => {
                if let Some(room) = room {
                    *length = room;
                }
                store(number, value, length)
            }
            None => answer,
        }
    }
}

/// What the Unix socket of a relayed connection answers differently.
fn of_relayed(family: c_int, level: c_int, name: c_int) -> Option<c_int> {
    match (level, name) {
        (SOL_SOCKET, SO_DOMAIN) => Some(family),
        (SOL_SOCKET, libc::SO_PROTOCOL) => Some(IPPROTO_TCP),
        (SOL_SOCKET, _) => None,
        (IPPROTO_TCP, TCP_MAXSEG) => Some(SEGMENT),
        _ => Some(0),
    }
}

/// SO_ERROR unless the kernel's socket has it; 0 for no error.
fn pending_error(socket: &Arc<Socket>) -> Option<c_int> {
    preserve_errno(|| pending::drive(socket));
    match (socket.mode(), socket.rsocket()) {
        (Mode::Rdma, Some(rsocket)) => {
            Some(preserve_errno(|| librdmacm::take_error(rsocket)).map_or(0, Errno::raw))
        }
        (Mode::Failed, _) => Some(socket.state.lock().error.take().map_or(0, Errno::raw)),
        _ => None,
    }
}

/// # Safety
/// The caller's arguments of getsockopt.
unsafe fn store(number: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int {
    if value.is_null() || length.is_null() {
        return fail(Errno::EFAULT);
    }
    // SAFETY: the caller's.
    if unsafe { *length } > c_int::MAX as socklen_t {
        return fail(Errno::EINVAL);
    }
    // SAFETY: no more bytes than the caller has room for.
    unsafe {
        let room = (*length as usize).min(size_of::<c_int>());
        core::ptr::copy_nonoverlapping((&raw const number).cast::<u8>(), value.cast(), room);
        *length = room as socklen_t;
    }
    0
}
