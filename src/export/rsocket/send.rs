// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `<rdma/rsocket.h>`: sending.
#![allow(unsafe_code)]

use crate::export::arg;
use crate::export::ret::IntoC;
use crate::rsocket::table::find;
use crate::rsocket::{Buffers, Socket, at_once, control};
use crate::types::SocketAddress;
use base::errno::{Errno, Result};
use libc::{c_int, c_void, iovec, msghdr, sockaddr, socklen_t};

#[inline(always)]
fn send<'a>(
    fd: c_int,
    buffers: impl FnOnce() -> Result<Buffers<'a>>,
    flags: c_int,
    to: impl FnOnce(&Socket) -> Result<Option<SocketAddress>>,
) -> Result<isize> {
    let socket = find(fd)?;
    match buffers() {
        Ok(mut buffers) => {
            socket.send(&mut buffers, flags, to(&socket)?.as_ref()).map(|count| count as isize)
        }
        Err(error) => without_memory(&socket, error, flags, to(&socket)?.as_ref()),
    }
}

/// rsend.
///
/// # Safety
/// `buf` is readable for `len` bytes.
#[inline(always)]
unsafe fn send_at_once(fd: c_int, buf: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: by contract.
    unsafe {
        match at_once::send(fd, buf.cast(), len, flags) {
            Some(sent) => sent.map(|count| count as isize).into_c(),
            None => send_one(fd, buf, len, flags),
        }
    }
}

/// rsend, where something is in the way of sending at once.
///
/// # Safety
/// `buf` is readable for `len` bytes.
#[cold]
#[inline(never)]
unsafe fn send_one(fd: c_int, buf: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: by contract.
    let buffers = || unsafe { Buffers::one(buf.cast_mut(), len) };
    send(fd, buffers, flags, |_| Ok(None)).into_c()
}

/// As with TCP, what the socket has to say comes before EFAULT.
#[cold]
#[inline(never)]
fn without_memory(
    socket: &Socket,
    error: Errno,
    flags: c_int,
    to: Option<&SocketAddress>,
) -> Result<isize> {
    if error == Errno::EFAULT {
        socket.check_send(flags, to)?;
    }
    Err(error)
}

/// As with TCP, what the socket has to say comes before what is wrong with control data.
///
/// # Safety
/// A valid message header.
#[cold]
#[inline(never)]
unsafe fn check_control(fd: c_int, msg: &msghdr, flags: c_int) -> Result<()> {
    let socket = find(fd)?;
    if msg.msg_control.is_null() {
        return Err(Errno::EFAULT);
    }
    if msg.msg_controllen > c_int::MAX as usize {
        return Err(Errno::ENOBUFS);
    }
    // SAFETY: readable for its length, by contract.
    let control =
        unsafe { core::slice::from_raw_parts(msg.msg_control.cast::<u8>(), msg.msg_controllen) };
    let is_stream = socket.as_stream().is_ok();
    control::check(control, is_stream).or_else(|error| {
        // SAFETY: by contract.
        let to = unsafe { arg::destination(msg.msg_name.cast(), msg.msg_namelen, &socket) }?;
        socket.check_send(flags, to.as_ref())?;
        Err(error)
    })
}

/// Sends data on an rsocket.
///
/// {Arguments: buffer to send}
///
/// # Description
///
/// Like send(2). The data is copied: the buffer may be reused when the call returns. No signal is
/// raised if the peer has closed the connection.
///
/// {Return value: bytes sent}
///
/// # Errors
///
/// - `EFAULT`: a buffer is NULL.
/// - `EMSGSIZE`: the datagram is too long.
/// - `EOPNOTSUPP`: MSG_OOB.
///
/// {Errors: send}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rsendto(3), rsendmsg(3), rwrite(3), rrecv(3), rpoll(3), send(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsend(
    socket: c_int,
    buf: *const c_void,
    len: usize,
    flags: c_int,
) -> isize {
    // SAFETY: readable for `len` bytes, by the C contract.
    unsafe { send_at_once(socket, buf, len, flags) }
}

/// Sends data on an rsocket to an address.
///
/// {Arguments: buffer to send}
/// - `dest_addr`: destination address, or NULL for that of rconnect.
/// - `addrlen`: size of `dest_addr` in bytes.
///
/// # Description
///
/// Like sendto(2). A stream ignores the address.
///
/// {Return value: bytes sent}
///
/// # Errors
///
/// - `EAFNOSUPPORT`: the family of the address differs from that of the rsocket, or is unknown.
/// - `EFAULT`: a buffer is NULL.
/// - `EINVAL`: the address is too short or too long.
/// - `EMSGSIZE`: the datagram is too long.
/// - `ENODEV`: no RDMA device reaches the peer.
/// - `EOPNOTSUPP`: MSG_OOB.
///
/// {Errors: send}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rsend(3), rrecvfrom(3), sendto(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsendto(
    socket: c_int,
    buf: *const c_void,
    len: usize,
    flags: c_int,
    dest_addr: *const sockaddr,
    addrlen: socklen_t,
) -> isize {
    // SAFETY: readable for the lengths given, by the C contract.
    let buffers = || unsafe { Buffers::one(buf.cast_mut(), len) };
    // SAFETY: the same.
    let to = |socket: &Socket| unsafe { arg::destination(dest_addr, addrlen, socket) };
    send(socket, buffers, flags, to).into_c()
}

/// Sends a message on an rsocket.
///
/// {Arguments: rsocket}
/// - `msg`: the data and the destination address. Control data has no effect; it must be valid.
/// - `flags`: MSG_DONTWAIT, or 0.
///
/// # Description
///
/// Like sendmsg(2).
///
/// {Return value: bytes sent}
///
/// # Errors
///
/// - `EAFNOSUPPORT`: the family of the address differs from that of the rsocket.
/// - `EFAULT`: `msg` or a buffer is NULL.
/// - `EINVAL`: the address or the control data is invalid, or the total length exceeds SSIZE_MAX.
/// - `EMSGSIZE`: the datagram is too long, or there are too many buffers.
/// - `EOPNOTSUPP`: MSG_OOB.
///
/// {Errors: send}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rsend(3), rrecvmsg(3), sendmsg(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsendmsg(socket: c_int, msg: *const msghdr, flags: c_int) -> isize {
    // SAFETY: a valid message header or NULL, which is not written to.
    let sent = unsafe { msg.as_ref() }.ok_or(Errno::EFAULT).and_then(|msg| {
        // SAFETY: by the C contract of the header.
        let buffers = || unsafe { Buffers::many(msg.msg_iov, msg.msg_iovlen) };
        // SAFETY: the same.
        let to = |socket: &Socket| unsafe {
            arg::destination(msg.msg_name.cast(), msg.msg_namelen, socket)
        };
        if msg.msg_iov.is_null() && msg.msg_iovlen > 0 {
            return Err(Errno::EFAULT);
        }
        if msg.msg_controllen > 0 {
            // SAFETY: the same.
            unsafe { check_control(socket, msg, flags) }?;
        }
        send(socket, buffers, flags, to)
    });
    sent.into_c()
}

/// Writes data to an rsocket.
///
/// {Arguments: rsocket}
/// - `buf`: the data.
/// - `count`: number of bytes to write.
///
/// # Description
///
/// Like write(2), or rsend without flags.
///
/// {Return value: bytes sent}
///
/// # Errors
///
/// - `EFAULT`: a buffer is NULL.
/// - `EMSGSIZE`: the datagram is too long.
///
/// {Errors: send}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rsend(3), rwritev(3), rread(3), write(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rwrite(socket: c_int, buf: *const c_void, count: usize) -> isize {
    // SAFETY: readable for `count` bytes, by the C contract.
    unsafe { send_at_once(socket, buf, count, 0) }
}

/// Writes data to an rsocket from several buffers.
///
/// {Arguments: buffers}
///
/// # Description
///
/// Like writev(2).
///
/// {Return value: bytes sent}
///
/// # Errors
///
/// - `EFAULT`: a buffer is NULL.
/// - `EMSGSIZE`: the datagram is too long.
///
/// {Errors: send}
/// {Errors: iovcnt}
///
/// {Thread safety: as with a socket}
///
/// # See also
///
/// rwrite(3), rreadv(3), writev(2), rsocket(7)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rwritev(socket: c_int, iov: *const iovec, iovcnt: c_int) -> isize {
    // SAFETY: valid pieces, by the C contract.
    let pieces = || unsafe { arg::listed(iov, iovcnt) };
    match find(socket).and_then(|_| pieces()) {
        Ok(Ok(pieces)) if pieces.left() == 0 => 0,
        Ok(pieces) => send(socket, || pieces, 0, |_| Ok(None)).into_c(),
        Err(error) => Err::<isize, _>(error).into_c(),
    }
}
