// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Reading and writing, sending and receiving.
//!
//! # Safety
//! The caller's buffers, addresses and message headers, passed on to the socket's carrier.
#![allow(unsafe_code)]

use super::ancillary::detach_rights;
use super::carry::{carry, transfer};
use crate::carrier::datagram::{self, carried_address};
use crate::sys::address::{Address, check_room};
use crate::sys::errno::fail;
use crate::sys::{librdmacm, original};
use crate::table::counts::Direction;
use crate::table::descriptors::{self, SOCKETS, known};
use crate::table::socket::Socket;
use alloc::vec::Vec;
use base::errno::{Errno, Result, preserve_errno};
use base::memory::try_vec;
use libc::{
    MSG_DONTWAIT, MSG_PEEK, c_int, c_void, iovec, msghdr, sockaddr, sockaddr_storage, socklen_t,
    ssize_t,
};

/// FIONREAD counts no further.
const MAX_UNREAD: usize = 256 << 10;

/// # Safety
/// The caller's arguments of read.
#[inline]
pub(crate) unsafe fn read(fd: c_int, to: *mut c_void, length: usize) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { original::read(fd, to, length) };
    };
    if length == 0 {
        return 0;
    }
    carry(
        socket,
        fd,
        Direction::In,
        0,
        // SAFETY: the caller's.
        move || unsafe { original::read(fd, to, length) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { librdmacm::rrecv(rsocket, to, length, 0) },
    )
}

/// # Safety
/// The caller's arguments of readv.
#[inline]
pub(crate) unsafe fn readv(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { original::readv(fd, pieces, count) };
    };
    // SAFETY: the caller's.
    if unsafe { is_nothing(pieces, count) } {
        return 0;
    }
    carry(
        socket,
        fd,
        Direction::In,
        0,
        // SAFETY: the caller's.
        move || unsafe { original::readv(fd, pieces, count) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { librdmacm::rreadv(rsocket, pieces, count) },
    )
}

/// # Safety
/// The caller's arguments of recv.
#[inline]
pub(crate) unsafe fn recv(fd: c_int, to: *mut c_void, length: usize, flags: c_int) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { original::recv(fd, to, length, flags) };
    };
    carry(
        socket,
        fd,
        Direction::In,
        flags,
        // SAFETY: the caller's.
        move || unsafe { original::recv(fd, to, length, flags) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { librdmacm::rrecv(rsocket, to, length, flags) },
    )
}

/// Whether readv and writev have no bytes to transfer: then they do nothing.
///
/// # Safety
/// The caller's pieces.
#[inline]
unsafe fn is_nothing(pieces: *const iovec, count: c_int) -> bool {
    if count == 0 {
        return true;
    }
    if pieces.is_null() || !(0..=libc::UIO_MAXIOV).contains(&count) {
        return false;
    }
    // SAFETY: as many pieces, by contract.
    let pieces = unsafe { core::slice::from_raw_parts(pieces, count as usize) };
    pieces.iter().all(|piece| piece.iov_len == 0)
}

/// # Safety
/// The caller's arguments of recvfrom.
pub(crate) unsafe fn recvfrom(
    fd: c_int,
    to: *mut c_void,
    length: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> ssize_t {
    transfer(
        fd,
        Direction::In,
        flags,
        // SAFETY: the caller's.
        || unsafe { original::recvfrom(fd, to, length, flags, address, address_length) },
        |rsocket, socket| {
            // Before anything is taken.
            // SAFETY: the caller's.
            if let Err(error) = unsafe { check_room(address, address_length) } {
                return fail(error) as ssize_t;
            }
            if socket.is_stream() {
                // A stream reports no sender.
                if !address.is_null() && !address_length.is_null() {
                    // SAFETY: the caller's.
                    unsafe { *address_length = 0 };
                }
                // SAFETY: the caller's.
                return unsafe { librdmacm::rrecv(rsocket, to, length, flags) };
            }
            let mut count = -1;
            // SAFETY: the caller's, and room that `asked` gives.
            unsafe {
                let from = Address::asked(|raw, room| {
                    count = librdmacm::rrecvfrom(rsocket, to, length, flags, raw, room);
                    if count < 0 { -1 } else { 0 }
                });
                if let Some(from) = from {
                    from.in_family(socket.family).store(address, address_length);
                }
            }
            count
        },
    )
}

/// # Safety
/// The caller's arguments of recvmsg.
pub(crate) unsafe fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    transfer(
        fd,
        Direction::In,
        flags,
        // SAFETY: the caller's.
        || unsafe { original::recvmsg(fd, message, flags) },
        // SAFETY: the caller's.
        |rsocket, socket| unsafe {
            if let Some(message) = message.as_mut() {
                message.msg_flags = 0;
            }
            let room = message.as_ref().map_or(0, |message| message.msg_namelen);
            let count = librdmacm::rrecvmsg(rsocket, message, flags);
            if let (true, Some(message)) = (count >= 0, message.as_mut()) {
                if !librdmacm::is_own() {
                    message.msg_controllen = 0;
                }
                if socket.is_stream() {
                    message.msg_namelen = 0;
                } else if let Some(from) =
                    Address::read(message.msg_name.cast(), message.msg_namelen)
                {
                    message.msg_namelen = room;
                    let length = &raw mut message.msg_namelen;
                    from.in_family(socket.family).store(message.msg_name.cast(), length);
                }
            }
            count
        },
    )
}

/// # Safety
/// The caller's arguments of write.
#[inline]
pub(crate) unsafe fn write(fd: c_int, from: *const c_void, length: usize) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { original::write(fd, from, length) };
    };
    carry(
        socket,
        fd,
        Direction::Out,
        0,
        // SAFETY: the caller's.
        move || unsafe { original::write(fd, from, length) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { librdmacm::rsend(rsocket, from, length, 0) },
    )
}

/// # Safety
/// The caller's arguments of writev.
#[inline]
pub(crate) unsafe fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { original::writev(fd, pieces, count) };
    };
    // SAFETY: the caller's.
    if unsafe { is_nothing(pieces, count) } {
        return 0;
    }
    carry(
        socket,
        fd,
        Direction::Out,
        0,
        // SAFETY: the caller's.
        move || unsafe { original::writev(fd, pieces, count) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { librdmacm::rwritev(rsocket, pieces, count) },
    )
}

/// # Safety
/// The caller's arguments of send.
#[inline]
pub(crate) unsafe fn send(fd: c_int, from: *const c_void, length: usize, flags: c_int) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { original::send(fd, from, length, flags) };
    };
    carry(
        socket,
        fd,
        Direction::Out,
        flags,
        // SAFETY: the caller's.
        move || unsafe { original::send(fd, from, length, flags) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { librdmacm::rsend(rsocket, from, length, flags) },
    )
}

/// # Safety
/// The caller's arguments of sendto.
pub(crate) unsafe fn sendto(
    fd: c_int,
    from: *const c_void,
    length: usize,
    flags: c_int,
    address: *const sockaddr,
    address_length: socklen_t,
) -> ssize_t {
    // SAFETY: the caller's.
    let peer = unsafe { Address::read_destination(address, address_length) };
    decide(fd, peer.as_ref());
    transfer(
        fd,
        Direction::Out,
        flags,
        // SAFETY: the caller's.
        || unsafe { original::sendto(fd, from, length, flags, address, address_length) },
        |rsocket, socket| match &peer {
            _ if !address.is_null() && address_length as usize > size_of::<sockaddr_storage>() => {
                fail(Errno::EINVAL) as ssize_t
            }
            // SAFETY: the caller's.
            None if !socket.is_stream() && unsafe { is_wrong(address, address_length) } => {
                // SAFETY: as above.
                fail(unsafe { no_address(address, address_length) }) as ssize_t
            }
            Some(peer) if !socket.is_stream() => {
                // SAFETY: the caller's bytes, an address in C's form.
                carried_address(socket, peer).with_raw(|raw, room| unsafe {
                    librdmacm::rsendto(rsocket, from, length, flags, raw, room)
                })
            }
            // SAFETY: the caller's.
            _ => unsafe { librdmacm::rsend(rsocket, from, length, flags) },
        },
    )
}

/// Whether the kernel refuses an address that is none of UDP's: one of no family it does not.
///
/// # Safety
/// `address` is NULL or readable for `length` bytes.
unsafe fn is_wrong(address: *const sockaddr, length: socklen_t) -> bool {
    // SAFETY: by contract.
    let family = || unsafe { base::address::family_of(address, length as usize) };
    let is_short = (length as usize) < size_of::<libc::sockaddr_in>();
    !address.is_null() && (is_short || family() != Some(libc::AF_UNSPEC))
}

/// What the kernel says of an address that is none of UDP's.
///
/// # Safety
/// `address` is readable for `length` bytes.
unsafe fn no_address(address: *const sockaddr, length: socklen_t) -> Errno {
    // SAFETY: by contract.
    match unsafe { base::address::family_of(address, length as usize) } {
        Some(libc::AF_INET | libc::AF_INET6) | None => Errno::EINVAL,
        Some(_) if (length as usize) < size_of::<libc::sockaddr_in>() => Errno::EINVAL,
        Some(_) => Errno::EAFNOSUPPORT,
    }
}

/// The peer of the first datagram decides what carries the socket.
pub(super) fn decide(fd: c_int, peer: Option<&Address>) {
    let Some(peer) = peer else { return };
    let Some(socket) = SOCKETS.get(fd) else { return };
    if !socket.is_stream() {
        datagram::decide(&socket, fd, peer);
    }
}

/// # Safety
/// The caller's arguments of sendmsg.
pub(crate) unsafe fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    if !descriptors::is_unused() {
        // SAFETY: the caller's.
        if let Err(error) = unsafe { detach_rights(message) } {
            return fail(error) as ssize_t;
        }
    }
    // SAFETY: the caller's.
    let peer = unsafe {
        message.as_ref().and_then(|message| {
            Address::read_destination(message.msg_name.cast(), message.msg_namelen)
        })
    };
    decide(fd, peer.as_ref());
    transfer(
        fd,
        Direction::Out,
        flags,
        // SAFETY: the caller's.
        || unsafe { original::sendmsg(fd, message, flags) },
        |rsocket, socket| match &peer {
            Some(peer) if !socket.is_stream() => {
                // SAFETY: the caller's header, with an address in C's form.
                carried_address(socket, peer).with_raw(|raw, room| unsafe {
                    let copy =
                        msghdr { msg_name: raw.cast_mut().cast(), msg_namelen: room, ..*message };
                    librdmacm::rsendmsg(rsocket, &raw const copy, flags)
                })
            }
            // SAFETY: the caller's.
            _ => unsafe { librdmacm::rsendmsg(rsocket, message, flags) },
        },
    )
}

/// Bytes that a read would return now (FIONREAD).
pub(super) fn unread(socket: &Socket) -> Result<c_int> {
    let Some(rsocket) = socket.rsocket() else { return Ok(0) };
    let mut buffer: Vec<u8> = try_vec(MAX_UNREAD)?;
    let flags = MSG_PEEK | MSG_DONTWAIT;
    // SAFETY: room of that length.
    let count = preserve_errno(|| unsafe {
        librdmacm::rrecv(rsocket, buffer.as_mut_ptr().cast(), MAX_UNREAD, flags)
    });
    Ok(c_int::try_from(count).unwrap_or(0).max(0))
}
