//! Reading and writing.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use crate::copy;
use crate::many;
use crate::real;
use crate::rsockets;
use crate::stats::Way;
use crate::transfer::{self, carry, known};
use libc::{
    c_int, c_uint, c_void, iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t,
    timespec,
};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn read(fd: c_int, to: *mut c_void, length: size_t) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { real::read(fd, to, length) };
    };
    carry(
        socket,
        fd,
        Way::In,
        0,
        // SAFETY: the caller's.
        move || unsafe { real::read(fd, to, length) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { rsockets::rrecv(rsocket, to, length, 0) },
    )
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn readv(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { real::readv(fd, pieces, count) };
    };
    carry(
        socket,
        fd,
        Way::In,
        0,
        // SAFETY: the caller's.
        move || unsafe { real::readv(fd, pieces, count) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { rsockets::rreadv(rsocket, pieces, count) },
    )
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recv(
    fd: c_int,
    to: *mut c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { real::recv(fd, to, length, flags) };
    };
    carry(
        socket,
        fd,
        Way::In,
        flags,
        // SAFETY: the caller's.
        move || unsafe { real::recv(fd, to, length, flags) },
        // SAFETY: the caller's.
        move |rsocket, socket| unsafe { transfer::receive(rsocket, socket, to, length, flags) },
    )
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recvfrom(
    fd: c_int,
    to: *mut c_void,
    length: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::receive_from(fd, to, length, flags, address, address_length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::receive_message(fd, message, flags) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { many::receive_messages(fd, messages, count, flags, timeout) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn write(fd: c_int, from: *const c_void, length: size_t) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { real::write(fd, from, length) };
    };
    carry(
        socket,
        fd,
        Way::Out,
        0,
        // SAFETY: the caller's.
        move || unsafe { real::write(fd, from, length) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { rsockets::rsend(rsocket, from, length, 0) },
    )
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { real::writev(fd, pieces, count) };
    };
    carry(
        socket,
        fd,
        Way::Out,
        0,
        // SAFETY: the caller's.
        move || unsafe { real::writev(fd, pieces, count) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { rsockets::rwritev(rsocket, pieces, count) },
    )
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn send(
    fd: c_int,
    from: *const c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    let Some(socket) = known(fd) else {
        // SAFETY: the caller's.
        return unsafe { real::send(fd, from, length, flags) };
    };
    carry(
        socket,
        fd,
        Way::Out,
        flags,
        // SAFETY: the caller's.
        move || unsafe { real::send(fd, from, length, flags) },
        // SAFETY: the caller's.
        move |rsocket, _| unsafe { rsockets::rsend(rsocket, from, length, flags) },
    )
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendto(
    fd: c_int,
    from: *const c_void,
    length: size_t,
    flags: c_int,
    address: *const sockaddr,
    address_length: socklen_t,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::send_to(fd, from, length, flags, address, address_length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendmsg(
    fd: c_int,
    message: *const msghdr,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::send_message(fd, message, flags) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { many::send_messages(fd, messages, count, flags) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    count: size_t,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe {
        copy::send_file(to, from, offset, count)
            .unwrap_or_else(|| real::sendfile(to, from, offset, count))
    }
}

/// off_t has 64 bits everywhere that this library is built for.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile64(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    count: size_t,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { sendfile(to, from, offset, count) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn splice(
    from: c_int,
    from_offset: *mut i64,
    to: c_int,
    to_offset: *mut i64,
    length: size_t,
    flags: c_uint,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe {
        copy::splice(from, from_offset, to, to_offset, length, flags)
            .unwrap_or_else(|| real::splice(from, from_offset, to, to_offset, length, flags))
    }
}

/// A buffer that its own compiler knows to be too short: what glibc's checked calls end a program for.
pub(super) fn check_room(length: size_t, room: size_t) {
    if length > room {
        let line = b"*** buffer overflow detected ***: terminated\n";
        // SAFETY: live bytes; abort does not return.
        unsafe {
            real::write(2, line.as_ptr().cast(), line.len());
            libc::abort();
        }
    }
}
