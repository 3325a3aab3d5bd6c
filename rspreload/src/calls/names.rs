// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! getsockname, getpeername, and shutdown.
//!
//! # Safety
//! The caller's room for addresses.
#![allow(unsafe_code)]

use crate::carrier::{claim, datagram, dissolve, pending};
use crate::sys::address::{Address, check_room};
use crate::sys::connection_name::{self, ConnectionName};
use crate::sys::errno::fail;
use crate::sys::{librdmacm, original};
use crate::table::descriptors::SOCKETS;
use crate::table::socket::Mode;
use base::errno::{Errno, preserve_errno};
use libc::{c_int, sockaddr, socklen_t};

type Call = unsafe fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;

/// # Safety
/// The caller's arguments of getsockname or getpeername.
unsafe fn name(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    (by_kernel, by_rdma): (Call, Call),
    of_addresses: fn((Address, Address)) -> Address,
) -> c_int {
    let socket = SOCKETS.get(fd).filter(|socket| match socket.mode() {
        Mode::Rdma | Mode::Relayed => true,
        Mode::Connecting => socket.rsocket().is_some(),
        _ => false,
    });
    let Some(socket) = socket else {
        // SAFETY: the caller's.
        return unsafe { by_kernel_or_name(fd, address, length, by_kernel, of_addresses) };
    };
    if address.is_null() {
        return fail(Errno::EFAULT);
    }
    // SAFETY: the caller's.
    if let Err(error) = unsafe { check_room(address, length) } {
        return fail(error);
    }
    // SAFETY: room that `asked` gives; then the caller's.
    unsafe {
        let name = match socket.rsocket().filter(|_| socket.mode() != Mode::Relayed) {
            Some(rsocket) => Address::asked(|raw, room| by_rdma(rsocket, raw, room)),
            // The copy of the parent's UDP socket.
            None if !socket.is_stream() => {
                Address::asked(|raw, room| by_kernel(socket.any_rsocket(), raw, room))
            }
            None => socket.state.lock().addresses.map(of_addresses),
        };
        match name {
            Some(found) => {
                found.in_family(socket.family).store(address, length);
                0
            }
            None => -1,
        }
    }
}

/// The kernel's answer. Of a Unix socket that stands for a connection of another process, that
/// connection's.
///
/// # Safety
/// As for `name`.
unsafe fn by_kernel_or_name(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    by_kernel: Call,
    of_addresses: fn((Address, Address)) -> Address,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let room = length.as_ref().copied();
        let answer = by_kernel(fd, address, length);
        let Some(room) = room.filter(|_| answer == 0 && connection_name::has_length(*length))
        else {
            return answer;
        };
        if let Some(name) = preserve_errno(|| ConnectionName::of(fd)) {
            *length = room;
            of_addresses((name.own, name.peer)).store(address, length);
        }
        answer
    }
}

/// # Safety
/// The caller's arguments of getsockname.
pub(crate) unsafe fn getsockname(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    if let Some(socket) = SOCKETS.get(fd) {
        // A program that asks for its port publishes it, and others will send to it.
        datagram::expect(&socket, fd);
        preserve_errno(|| pending::note_name(&socket));
    }
    // SAFETY: the caller's.
    unsafe {
        name(fd, address, length, (original::getsockname, librdmacm::rgetsockname), |(own, _)| own)
    }
}

/// # Safety
/// The caller's arguments of getpeername.
pub(crate) unsafe fn getpeername(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        name(fd, address, length, (original::getpeername, librdmacm::rgetpeername), |(_, peer)| {
            peer
        })
    }
}

pub(crate) fn shutdown(fd: c_int, how: c_int) -> c_int {
    let socket = SOCKETS.get(fd);
    if let Some(socket) = &socket {
        claim::claim(socket);
        // One that is made is a connection.
        preserve_errno(|| pending::drive(socket));
    }
    let (mode, rsocket) = match &socket {
        Some(socket) => (socket.mode(), socket.rsocket()),
        None => (Mode::Plain, None),
    };
    if let (Some(socket), Mode::Connecting) = (&socket, mode) {
        // SAFETY: no pointers.
        let end = |rsocket| unsafe { librdmacm::rshutdown(rsocket, how) };
        if let Some(answer) = dissolve::give_up(socket, end) {
            return answer;
        }
    }
    // SAFETY: no pointers.
    unsafe {
        match (mode, rsocket) {
            (Mode::Rdma, Some(rsocket)) => librdmacm::rshutdown(rsocket, how),
            (Mode::Listening, Some(rsocket)) => {
                librdmacm::rshutdown(rsocket, how);
                original::shutdown(fd, how)
            }
            _ => original::shutdown(fd, how),
        }
    }
}
