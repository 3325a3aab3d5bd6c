// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! <unistd.h>, <fcntl.h>, <sys/ioctl.h>. fcntl and ioctl are variadic in C; on x86-64 (System V)
//! and AArch64 (AAPCS64) a caller passes the third argument as it would a fixed one.
//!
//! # Safety
//! The caller's arguments, passed on.
#![allow(unsafe_code)]

use crate::calls::{descriptor, exit, stdio};
use crate::sys::original;
use libc::{FILE, c_char, c_int, c_long, c_uint, c_ulong, c_void};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn close(fd: c_int) -> c_int {
    descriptor::close(fd)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    descriptor::close_range(first, last, flags)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn closefrom(first: c_int) {
    descriptor::close_range(first.max(0).unsigned_abs(), c_uint::MAX, 0);
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's.
    unsafe { stdio::fdopen(fd, mode) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup(fd: c_int) -> c_int {
    descriptor::duplicate(fd)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup2(fd: c_int, to: c_int) -> c_int {
    // SAFETY: no pointers.
    descriptor::duplicate_to(fd, to, || unsafe { original::dup2(fd, to) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
    // SAFETY: no pointers.
    descriptor::duplicate_to(fd, to, || unsafe { original::dup3(fd, to, flags) })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int {
    descriptor::fcntl(fd, command, argument)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, argument: c_long) -> c_int {
    descriptor::fcntl(fd, command, argument)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    unsafe { descriptor::ioctl(fd, request, argument) }
}

fn leave(status: c_int) -> ! {
    exit::finish();
    // SAFETY: does not return.
    unsafe {
        let status = status.into();
        original::syscall(libc::SYS_exit_group, status, 0, 0, 0, 0, 0);
        libc::abort()
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _exit(status: c_int) -> ! {
    leave(status)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _Exit(status: c_int) -> ! {
    leave(status)
}
