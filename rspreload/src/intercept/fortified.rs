// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What a compiler with _FORTIFY_SOURCE calls: the same functions, with the size of the buffer.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use super::message::{check_room, read, recv, recvfrom};
use super::poll::{poll, ppoll};
use libc::{
    c_int, c_void, nfds_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec,
};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __read_chk(
    fd: c_int,
    to: *mut c_void,
    length: size_t,
    room: size_t,
) -> ssize_t {
    check_room(length, room);
    // SAFETY: the caller's.
    unsafe { read(fd, to, length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __recv_chk(
    fd: c_int,
    to: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
) -> ssize_t {
    check_room(length, room);
    // SAFETY: the caller's.
    unsafe { recv(fd, to, length, flags) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __recvfrom_chk(
    fd: c_int,
    to: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> ssize_t {
    check_room(length, room);
    // SAFETY: the caller's.
    unsafe { recvfrom(fd, to, length, flags, address, address_length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __poll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
    room: size_t,
) -> c_int {
    check_room(count as usize, room / size_of::<pollfd>());
    // SAFETY: the caller's.
    unsafe { poll(fds, count, timeout) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    check_room(count as usize, room / size_of::<pollfd>());
    // SAFETY: the caller's.
    unsafe { ppoll(fds, count, timeout, mask) }
}
