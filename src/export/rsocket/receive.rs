// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rsocket.h>`: receiving.
#![allow(unsafe_code)]

use crate::export::arg::{self, AddressPlace};
use crate::export::ret::IntoC;
use crate::rsocket::table::find;
use crate::rsocket::{Buffers, Received, Socket, at_once, fitting};
use base::errno::{Errno, Result};
use base::fail;
use libc::{c_int, c_void, iovec, msghdr, sockaddr, socklen_t};

/// Receives without the address of the sender.
#[inline(always)]
fn read<'a>(
    fd: c_int,
    buffers: impl FnOnce() -> Result<Buffers<'a>>,
    length: usize,
    flags: c_int,
) -> Result<isize> {
    let socket = find(fd)?;
    match buffers() {
        Ok(mut buffers) => socket.read(&mut buffers, flags).map(|count| count as isize),
        Err(error) => without_memory(&socket, error, length, flags),
    }
}

/// rrecv.
///
/// # Safety
/// `buf` is writable for `len` bytes.
#[inline(always)]
unsafe fn read_at_once(fd: c_int, buf: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: by contract.
    unsafe {
        match at_once::receive(fd, buf.cast(), len, flags) {
            Some(received) => received.map(|count| count as isize).into_c(),
            None => read_one(fd, buf, len, flags),
        }
    }
}

/// rrecv, where something is in the way of receiving at once.
///
/// # Safety
/// `buf` is writable for `len` bytes.
#[cold]
#[inline(never)]
unsafe fn read_one(fd: c_int, buf: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: by contract.
    let buffers = || unsafe { Buffers::one(buf, len) };
    read(fd, buffers, len, flags).into_c()
}

/// As with TCP, what the socket has to say comes before EFAULT; with MSG_TRUNC `length` bytes of a
/// stream are thrown away, which needs no memory.
#[cold]
#[inline(never)]
fn without_memory(socket: &Socket, error: Errno, length: usize, flags: c_int) -> Result<isize> {
    if error == Errno::EFAULT {
        return socket.receive_nowhere(length, flags).map(|count| count as isize);
    }
    Err(error)
}

/// Everything that can be refused is refused before the socket gives anything away.
fn receive<'a>(
    fd: c_int,
    buffers: impl FnOnce() -> Result<Buffers<'a>>,
    length: usize,
    flags: c_int,
    sender: impl FnOnce() -> Result<AddressPlace>,
) -> Result<Received> {
    let socket = find(fd)?;
    let sender = sender()?;
    let mut buffers = match buffers() {
        Ok(buffers) => buffers,
        Err(error) => {
            let received = without_memory(&socket, error, length, flags);
            return received.map(|count| Received::of_bytes(count as usize));
        }
    };
    let received = socket.receive(&mut buffers, flags)?;
    sender.store(received.from.as_ref());
    Ok(received)
}

/// Stores control messages, those that there is room for.
///
/// # Safety
/// A valid message header.
unsafe fn store_control(msg: &mut msghdr, control: &[u8]) {
    let room = if msg.msg_control.is_null() { 0 } else { msg.msg_controllen };
    let length = fitting(control, room);
    if length < control.len() && fitting(control, control.len()) > length {
        msg.msg_flags |= libc::MSG_CTRUNC;
    }
    if length > 0 {
        // SAFETY: by contract, writable for as many bytes as there is room.
        unsafe {
            core::ptr::copy_nonoverlapping(control.as_ptr(), msg.msg_control.cast(), length);
        }
    }
    msg.msg_controllen = length;
}

/// Receives data from an rsocket.
///
/// {Arguments: buffer to receive}
/// {Arguments: flags to receive}
///
/// # Description
///
/// Like recv(2). Data that does not fit into the buffer remains for the next call on a stream;
/// the rest of a datagram is discarded.
///
/// {Return value: bytes received}
///
/// # Errors
///
/// - `EINVAL`: MSG_OOB on a stream.
///
/// {Errors: receive with flags}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rrecvfrom(3), rrecvmsg(3), rread(3), rsend(3), rpoll(3), recv(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecv(socket: c_int, buf: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: writable for `len` bytes, by the C contract.
    unsafe { read_at_once(socket, buf, len, flags) }
}

/// Receives data from an rsocket, with the address of the sender.
///
/// {Arguments: buffer to receive}
/// {Arguments: flags to receive}
/// - `src_addr`: buffer for the address of the sender, or NULL.
/// - `addrlen`: size of `src_addr` in bytes; set to the size of the address. NULL if `src_addr`
///   is NULL.
///
/// # Description
///
/// Like recvfrom(2). A stream returns no address: `addrlen` is set to 0.
///
/// {Return value: bytes received}
///
/// # Errors
///
/// - `EINVAL`: MSG_OOB on a stream.
///
/// {Errors: receive with flags}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rrecv(3), rsendto(3), recvfrom(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecvfrom(
    socket: c_int,
    buf: *mut c_void,
    len: usize,
    flags: c_int,
    src_addr: *mut sockaddr,
    addrlen: *mut socklen_t,
) -> isize {
    // SAFETY: writable for `len` bytes, by the C contract.
    let buffers = || unsafe { Buffers::one(buf, len) };
    // SAFETY: places for an address and its length, or NULL.
    let sender = || unsafe { AddressPlace::new(src_addr, addrlen) };
    receive(socket, buffers, len, flags, sender).map(|received| received.count as isize).into_c()
}

/// Receives a message from an rsocket.
///
/// {Arguments: rsocket}
/// - `msg`: buffers for the data, for the address of the sender, and for control data. MSG_TRUNC in
///   `msg_flags` means that a datagram was truncated, MSG_CTRUNC that control data was.
///   A datagram has the control data that was requested by IP_PKTINFO, IP_RECVTTL, IP_RECVTOS,
///   IP_RECVORIGDSTADDR, IPV6_RECVPKTINFO, IPV6_RECVHOPLIMIT, IPV6_RECVTCLASS, SO_TIMESTAMP or
///   SO_TIMESTAMPNS; a stream has none.
///
/// {Arguments: flags to receive}
///
/// # Description
///
/// Like recvmsg(2).
///
/// {Return value: bytes received}
///
/// # Errors
///
/// - `EINVAL`: the total length exceeds SSIZE_MAX, `msg_namelen` is negative, or MSG_OOB on a stream.
/// - `EMSGSIZE`: there are too many buffers.
///
/// {Errors: receive with flags}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rrecv(3), rsendmsg(3), recvmsg(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rrecvmsg(socket: c_int, msg: *mut msghdr, flags: c_int) -> isize {
    // SAFETY: a valid message header or NULL.
    let received = unsafe { msg.as_mut() }.ok_or(Errno::EFAULT).and_then(|msg| {
        if msg.msg_namelen > c_int::MAX as socklen_t {
            return Err(fail!(EINVAL, "rrecvmsg: {} bytes for an address", msg.msg_namelen));
        }
        // SAFETY: by the C contract of the header.
        let buffers = || unsafe { Buffers::many(msg.msg_iov, msg.msg_iovlen) };
        let (name, length) = (msg.msg_name.cast(), &raw mut msg.msg_namelen);
        // SAFETY: as above.
        let sender = || unsafe { AddressPlace::new(name, length) };
        if msg.msg_iov.is_null() && msg.msg_iovlen > 0 {
            return Err(Errno::EFAULT);
        }
        let length = match flags & libc::MSG_TRUNC {
            0 => 0,
            // SAFETY: as above.
            _ => unsafe { Buffers::total(msg.msg_iov, msg.msg_iovlen) },
        };
        let received = receive(socket, buffers, length, flags, sender)?;
        msg.msg_flags = if received.truncated { libc::MSG_TRUNC } else { 0 };
        // SAFETY: as above.
        unsafe { store_control(msg, &received.control) };
        Ok(received.count as isize)
    });
    received.into_c()
}

/// Reads data from an rsocket.
///
/// {Arguments: rsocket}
/// - `buf`: buffer for the data.
/// - `count`: size of `buf` in bytes.
///
/// # Description
///
/// Like read(2), or rrecv without flags.
///
/// {Return value: bytes received}
///
/// {Errors: receive}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rrecv(3), rreadv(3), rwrite(3), read(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rread(socket: c_int, buf: *mut c_void, count: usize) -> isize {
    // As read(2) without bytes; rrecv asks for the state of the socket.
    if count == 0 {
        return find(socket).map(|_| 0_isize).into_c();
    }
    // SAFETY: writable for `count` bytes, by the C contract.
    unsafe { read_at_once(socket, buf, count, 0) }
}

/// Reads data from an rsocket into several buffers.
///
/// {Arguments: buffers}
///
/// # Description
///
/// Like readv(2).
///
/// {Return value: bytes received}
///
/// {Errors: receive}
/// {Errors: iovcnt}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rread(3), rwritev(3), readv(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rreadv(socket: c_int, iov: *const iovec, iovcnt: c_int) -> isize {
    // SAFETY: valid pieces, by the C contract.
    let pieces = || unsafe { arg::listed(iov, iovcnt) };
    match find(socket).and_then(|_| pieces()) {
        Ok(Ok(pieces)) if pieces.left() == 0 => 0,
        Ok(pieces) => read(socket, || pieces, 0, 0).into_c(),
        Err(error) => Err::<isize, _>(error).into_c(),
    }
}
