// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Makes an rsocket for a socket of the program: with its options, bound as it is.
//!
//! # Safety
//! Addresses in C's form that live as long as the call.
#![allow(unsafe_code)]

use crate::sys::address::Address;
use crate::sys::{config, librdmacm, original, repoll};
use crate::table::setting::{SOL_RDMA, Setting};
use crate::table::socket::Socket;
use base::errno::{Errno, Result};
use libc::{SOL_SOCKET, c_int};

/// <rdma/rsocket.h>
const RDMA_SQSIZE: c_int = 0;
const RDMA_RQSIZE: c_int = 1;
const RDMA_INLINE: c_int = 2;
/// Not in the C library: for its trace, the program's descriptor.
const RDMA_BESIDE: c_int = 0x102;
/// Not in the C library: peers may be plain UDP sockets, and datagrams as long as UDP's.
const RDMA_AS_UDP: c_int = 0x100;

/// As much as the kernel gives a UDP socket, and as the queues hold.
const DATAGRAM_BUFFER: c_int = 384 * 2048;

/// Opens an rsocket with the socket's options. Its family may be another than the socket's.
pub(super) fn open(socket: &Socket, family: c_int) -> Result<c_int> {
    let rsocket = librdmacm::open(family, socket.kind)?;
    if !socket.is_stream() {
        Setting::number(SOL_SOCKET, libc::SO_RCVBUF, DATAGRAM_BUFFER).apply(rsocket);
        Setting::number(SOL_SOCKET, libc::SO_SNDBUF, DATAGRAM_BUFFER).apply(rsocket);
        Setting::number(SOL_RDMA, RDMA_AS_UDP, 1).apply(rsocket);
    }
    apply_configuration(rsocket);
    for setting in &socket.state.lock().settings {
        setting.apply(rsocket);
    }
    name_in_trace(socket, rsocket);
    Ok(rsocket)
}

/// The descriptor that the program knows the rsocket by.
pub(super) fn name_in_trace(socket: &Socket, rsocket: c_int) {
    if config::get().has_trace {
        if let Some(fd) = socket.state.lock().fds.first() {
            Setting::number(SOL_RDMA, RDMA_BESIDE, *fd).apply(rsocket);
        }
    }
}

/// Queue sizes of the environment.
fn apply_configuration(rsocket: c_int) {
    let config = config::get();
    let values = [
        (RDMA_SQSIZE, config.send_queue),
        (RDMA_RQSIZE, config.receive_queue),
        (RDMA_INLINE, config.inline),
    ];
    for (name, value) in values {
        if let Some(value) = value {
            Setting::number(SOL_RDMA, name, value).apply(rsocket);
        }
    }
}

/// ENOSYS for a socket in an epoll instance, if librdmacm has no sets that rsockets could be in.
pub(super) fn check_watched(socket: &Socket) -> Result<()> {
    let is_watched = !socket.state.lock().watches.is_empty();
    if is_watched && !repoll::is_available() { Err(Errno::ENOSYS) } else { Ok(()) }
}

pub(super) fn bind(rsocket: c_int, address: &Address) -> Result<()> {
    // SAFETY: an address in C's form.
    let bound = address.with_raw(|raw, length| unsafe { librdmacm::rbind(rsocket, raw, length) });
    librdmacm::checked(bound).map(drop)
}

/// Binds it to the local address that the program has given the kernel's socket. RDMA port numbers
/// are apart from TCP's, so the port is nearly always free; if not, any port.
pub(super) fn bind_as_kernel(socket: &Socket, fd: c_int, rsocket: c_int) -> Result<()> {
    if !socket.state.lock().bound {
        return Ok(());
    }
    let Some(own) = kernel_address(fd).map(|own| own.unmapped()) else { return Ok(()) };
    match bind(rsocket, &own) {
        Err(Errno::EADDRINUSE) => bind(rsocket, &own.with_port(0)),
        other => other,
    }
}

/// The local address of a kernel socket.
pub(super) fn kernel_address(fd: c_int) -> Option<Address> {
    // SAFETY: room that `asked` gives.
    Address::asked(|raw, length| unsafe { original::getsockname(fd, raw, length) })
}

pub(super) fn own_address(rsocket: c_int) -> Option<Address> {
    // SAFETY: room that `asked` gives.
    Address::asked(|raw, length| unsafe { librdmacm::rgetsockname(rsocket, raw, length) })
}

pub(super) fn peer_address(rsocket: c_int) -> Option<Address> {
    // SAFETY: room that `asked` gives.
    Address::asked(|raw, length| unsafe { librdmacm::rgetpeername(rsocket, raw, length) })
}

pub(super) fn connect(rsocket: c_int, peer: &Address) -> c_int {
    // SAFETY: an address in C's form.
    peer.with_raw(|raw, length| unsafe { librdmacm::rconnect(rsocket, raw, length) })
}
