// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Calls that copy and close descriptors or change their flags: close, dup, fcntl, ioctl.
//!
//! # Safety
//! System calls on the program's numbers, with the caller's arguments.
#![allow(unsafe_code)]

use super::ancillary::hand_over;
use super::transfer;
use crate::epoll::instance::{EPOLLS, Epoll};
use crate::fork::claim;
use crate::sys::errno::fail;
use crate::sys::{original, process};
use crate::table::descriptors::{self, SOCKETS, highest, is_unused, leave};
use crate::table::socket::Mode;
use base::arc::Arc;
use base::errno::{Errno, Result, preserve_errno};
use libc::{
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFL, O_NONBLOCK, c_int, c_long, c_uint, c_ulong, c_void,
};

fn is_known(fd: c_int) -> bool {
    !is_unused()
        && (SOCKETS.get(fd).is_some() || EPOLLS.get(fd).is_some())
        && process::is_own_memory()
}

pub(crate) fn close(fd: c_int) -> c_int {
    if is_known(fd) {
        leave(fd);
    } else if !is_unused() {
        claim::numbers_closed(fd, fd);
    }
    // SAFETY: no pointers.
    unsafe { original::close(fd) }
}

const CLOSE_RANGE_UNSHARE: c_int = 2;

pub(crate) fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let closes = flags & !CLOSE_RANGE_UNSHARE == 0;
    if closes && process::is_own_memory() {
        let number = |fd: c_uint| c_int::try_from(fd).unwrap_or(c_int::MAX);
        claim::numbers_closed(number(first), number(last));
    }
    // SAFETY: no pointers.
    let failed = unsafe { original::close_range(first, last, flags) };
    if failed == 0 && closes && !is_unused() && process::is_own_memory() {
        let last = last.min(highest().unsigned_abs());
        for fd in first..=last {
            leave(fd as c_int);
        }
    }
    failed
}

/// `to` is a copy of `from` now. If it cannot be entered it is closed; the answer of the call.
fn copied(from: c_int, to: c_int) -> c_int {
    if from == to || !process::is_own_memory() {
        return to;
    }
    match preserve_errno(|| enter_copy(from, to)) {
        Ok(()) => to,
        Err(error) => {
            original::close_own(to);
            fail(error)
        }
    }
}

fn enter_copy(from: c_int, to: c_int) -> Result<()> {
    if let Some(socket) = SOCKETS.get(from) {
        descriptors::add_number(to, Arc::clone(&socket))?;
        // The program may execute another one with its standard input and output, or write by
        // stdio.
        if socket.is_inherited() || to <= libc::STDERR_FILENO {
            // On failure this process alone can use it.
            let _ = hand_over(to);
        }
    } else if let Some(epoll) = EPOLLS.get(from) {
        Epoll::enter(&epoll, to)?;
    }
    Ok(())
}

/// dup.
pub(crate) fn duplicate(fd: c_int) -> c_int {
    // SAFETY: no pointers.
    let copy = unsafe { original::dup(fd) };
    if copy >= 0 && is_known(fd) {
        return copied(fd, copy);
    }
    copy
}

/// dup2 and dup3.
pub(crate) fn duplicate_to(fd: c_int, to: c_int, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: no pointers.
    let is_open = || unsafe { original::fcntl(fd, F_GETFD, 0) } >= 0;
    if fd != to && is_known(to) && is_open() {
        leave(to);
    }
    let copy = call();
    if copy >= 0 && is_known(fd) {
        return copied(fd, copy);
    }
    copy
}

pub(crate) fn fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int {
    // SAFETY: the caller's argument for the command.
    let answer = unsafe { original::fcntl(fd, command, argument) };
    if answer < 0 || is_unused() {
        return answer;
    }
    match command {
        F_DUPFD | F_DUPFD_CLOEXEC if is_known(fd) => return copied(fd, answer),
        F_SETFL => set_non_blocking(fd, argument & c_long::from(O_NONBLOCK) != 0),
        _ => {}
    }
    answer
}

fn set_non_blocking(fd: c_int, on: bool) {
    if let Some(socket) = SOCKETS.get(fd) {
        preserve_errno(|| socket.set_non_blocking(on));
    }
}

/// # Safety
/// The caller's arguments of ioctl: an integer for FIONREAD, TIOCOUTQ and FIONBIO.
pub(crate) unsafe fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    let socket = descriptors::known(fd);
    let by_rdma = socket.as_ref().filter(|socket| socket.mode() == Mode::Rdma);
    if let (Some(socket), libc::FIONREAD | libc::TIOCOUTQ) = (by_rdma, request) {
        if argument.is_null() {
            return fail(Errno::EFAULT);
        }
        let count = if request == libc::FIONREAD { transfer::unread(socket) } else { Ok(0) };
        let count = match count {
            Ok(count) => count,
            Err(error) => return fail(error),
        };
        // SAFETY: room for an integer, by ioctl's contract.
        unsafe { *argument.cast::<c_int>() = count };
        return 0;
    }
    // SAFETY: the caller's.
    let answer = unsafe { original::ioctl(fd, request, argument) };
    if answer >= 0 && request == libc::FIONBIO && socket.is_some() && !argument.is_null() {
        // SAFETY: the kernel has read an integer there.
        set_non_blocking(fd, unsafe { *argument.cast::<c_int>() } != 0);
    }
    answer
}
