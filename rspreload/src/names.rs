//! Names and ends: getsockname, getpeername, shutdown.
//!
//! # Safety
//! The caller's places for addresses.
#![allow(unsafe_code)]

use crate::address::Address;
use crate::fork;
use crate::real;
use crate::rsockets;
use crate::socket::{Mode, SOCKETS};
use libc::{c_int, sockaddr, socklen_t};

/// Own and peer's name of a connection.
pub(crate) fn of_rsocket(rsocket: c_int) -> Option<(Address, Address)> {
    // SAFETY: places that `asked` gives.
    unsafe {
        let own = Address::asked(|raw, room| rsockets::rgetsockname(rsocket, raw, room))?;
        let peer = Address::asked(|raw, room| rsockets::rgetpeername(rsocket, raw, room))?;
        Some((own, peer))
    }
}

pub(crate) fn has_peer(rsocket: c_int) -> bool {
    // SAFETY: places that `asked` gives.
    Address::asked(|raw, room| unsafe { rsockets::rgetpeername(rsocket, raw, room) }).is_some()
}

type Call = unsafe fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;

/// # Safety
/// The caller's arguments of getsockname or getpeername.
unsafe fn name(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    (by_kernel, by_rdma): (Call, Call),
    kept: fn((Address, Address)) -> Address,
) -> c_int {
    let socket =
        SOCKETS.get(fd).filter(|socket| matches!(socket.mode(), Mode::Rdma | Mode::Relayed));
    let Some(socket) = socket else {
        // SAFETY: the caller's.
        return unsafe { by_kernel(fd, address, length) };
    };
    if address.is_null() || length.is_null() {
        // SAFETY: the location is valid for the life of the thread.
        unsafe { *libc::__errno_location() = libc::EFAULT };
        return -1;
    }
    // SAFETY: places that `asked` gives; then the caller's.
    unsafe {
        let name = match socket.rsocket().filter(|_| socket.mode() == Mode::Rdma) {
            Some(rsocket) => Address::asked(|raw, room| by_rdma(rsocket, raw, room)),
            None => socket.state.lock().names.map(kept),
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

/// # Safety
/// The caller's arguments of getsockname.
pub(crate) unsafe fn own(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    if let Some(socket) = SOCKETS.get(fd) {
        // Who asks for the number of a port will tell it to others, who send there.
        crate::datagram::expect(&socket, fd);
    }
    // SAFETY: the caller's.
    unsafe {
        name(fd, address, length, (real::getsockname, rsockets::rgetsockname), |(own, _)| own)
    }
}

/// # Safety
/// The caller's arguments of getpeername.
pub(crate) unsafe fn peer(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        name(fd, address, length, (real::getpeername, rsockets::rgetpeername), |(_, peer)| peer)
    }
}

pub(crate) fn shutdown(fd: c_int, how: c_int) -> c_int {
    let socket = SOCKETS.get(fd);
    if let Some(socket) = &socket {
        fork::claim(socket);
    }
    let (mode, rsocket) = match &socket {
        Some(socket) => (socket.mode(), socket.rsocket()),
        None => (Mode::Plain, None),
    };
    // SAFETY: no pointers.
    unsafe {
        match (mode, rsocket) {
            (Mode::Rdma, Some(rsocket)) => rsockets::rshutdown(rsocket, how),
            (Mode::Listening, Some(rsocket)) => {
                rsockets::rshutdown(rsocket, how);
                real::shutdown(fd, how)
            }
            _ => real::shutdown(fd, how),
        }
    }
}
