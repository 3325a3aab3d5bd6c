// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Reading and writing: read, write, and what sends and receives, sendfile and splice.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use crate::calls::{batch, copy, transfer};
use crate::sys::original;
use libc::{
    c_int, c_uint, c_void, iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t,
    timespec,
};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn read(fd: c_int, to: *mut c_void, length: size_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::read(fd, to, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn readv(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::readv(fd, pieces, count) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recv(
    fd: c_int,
    to: *mut c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::recv(fd, to, length, flags) }
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
    unsafe { transfer::recvfrom(fd, to, length, flags, address, address_length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::recvmsg(fd, message, flags) }
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
    unsafe { batch::recvmmsg(fd, messages, count, flags, timeout) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn write(fd: c_int, from: *const c_void, length: size_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::write(fd, from, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::writev(fd, pieces, count) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn send(
    fd: c_int,
    from: *const c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::send(fd, from, length, flags) }
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
    unsafe { transfer::sendto(fd, from, length, flags, address, address_length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendmsg(
    fd: c_int,
    message: *const msghdr,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { transfer::sendmsg(fd, message, flags) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { batch::sendmmsg(fd, messages, count, flags) }
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
            .unwrap_or_else(|| original::sendfile(to, from, offset, count))
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
            .unwrap_or_else(|| original::splice(from, from_offset, to, to_offset, length, flags))
    }
}

/// Ends the program if a buffer is too short, as glibc's checked functions do.
pub(super) fn check_room(length: size_t, room: size_t) {
    if length > room {
        let line = b"*** buffer overflow detected ***: terminated\n";
        // SAFETY: live bytes; abort does not return.
        unsafe {
            original::write(2, line.as_ptr().cast(), line.len());
            libc::abort();
        }
    }
}
