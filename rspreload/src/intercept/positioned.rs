// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! <sys/uio.h>: preadv2 and pwritev2, which with an offset of -1 are readv and writev. Sockets have
//! no other offsets; the kernel reports that for these functions and for pread and pwrite.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use crate::calls::carry::transfer;
use crate::sys::{librdmacm, original};
use crate::table::counts::Direction;
use core::mem::MaybeUninit;
use libc::{MSG_DONTWAIT, RWF_NOWAIT, UIO_MAXIOV, c_int, iovec, msghdr, off_t, ssize_t};

fn message_of(pieces: *const iovec, count: c_int) -> msghdr {
    // SAFETY: pointers and integers, valid when zero.
    let mut message: msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = pieces.cast_mut();
    message.msg_iovlen = usize::try_from(count).unwrap_or_default();
    message
}

fn flags_of(flags: c_int) -> c_int {
    if flags & RWF_NOWAIT != 0 { MSG_DONTWAIT } else { 0 }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn preadv2(
    fd: c_int,
    pieces: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the caller's.
    let kernel = || unsafe { original::preadv2(fd, pieces, count, offset, flags) };
    if offset != -1 || !(0..=UIO_MAXIOV).contains(&count) {
        return kernel();
    }
    transfer(fd, Direction::In, flags_of(flags), kernel, |rsocket, _| {
        let mut message = message_of(pieces, count);
        // SAFETY: the caller's pieces.
        unsafe { librdmacm::rrecvmsg(rsocket, &raw mut message, flags_of(flags)) }
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn preadv64v2(
    fd: c_int,
    pieces: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { preadv2(fd, pieces, count, offset, flags) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pwritev2(
    fd: c_int,
    pieces: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the caller's.
    let kernel = || unsafe { original::pwritev2(fd, pieces, count, offset, flags) };
    if offset != -1 || !(0..=UIO_MAXIOV).contains(&count) {
        return kernel();
    }
    transfer(fd, Direction::Out, flags_of(flags), kernel, |rsocket, _| {
        let message = message_of(pieces, count);
        // SAFETY: the caller's pieces.
        unsafe { librdmacm::rsendmsg(rsocket, &raw const message, flags_of(flags)) }
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pwritev64v2(
    fd: c_int,
    pieces: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { pwritev2(fd, pieces, count, offset, flags) }
}
