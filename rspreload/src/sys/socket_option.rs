// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Options of kernel sockets that this library reads and sets for itself: numbers, SO_RCVTIMEO and
//! SO_SNDTIMEO.
//!
//! # Safety
//! getsockopt(2) and setsockopt(2) with live values of this library.
#![allow(unsafe_code)]

use super::original;
use base::deadline::Timeout;
use base::errno::preserve_errno;
use core::time::Duration;
use libc::{SOL_SOCKET, c_int, socklen_t, timeval};

/// An option of SOL_SOCKET that is a number.
pub(crate) fn number(fd: c_int, name: c_int) -> c_int {
    let mut number: c_int = 0;
    let mut length = size_of::<c_int>() as socklen_t;
    // SAFETY: room of that length.
    unsafe {
        original::getsockopt(fd, SOL_SOCKET, name, (&raw mut number).cast(), &raw mut length)
    };
    number
}

/// SO_RCVTIMEO or SO_SNDTIMEO.
pub(crate) fn timeout(fd: c_int, name: c_int) -> Timeout {
    let timeout = get(fd, name).and_then(|time| Timeout::from_timeval(&time).ok());
    // Zero means no limit.
    timeout.filter(|timeout| !timeout.is_zero()).unwrap_or_default()
}

/// Makes one system call with another SO_RCVTIMEO or SO_SNDTIMEO, and keeps its errno.
pub(crate) fn with_timeout<R>(
    fd: c_int,
    name: c_int,
    limit: Duration,
    call: impl FnOnce() -> R,
) -> R {
    let before = get(fd, name);
    // Zero would be no limit.
    let limit = limit.max(Duration::from_millis(1));
    set(
        fd,
        name,
        &timeval {
            tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_usec: limit.subsec_micros().into(),
        },
    );
    let answer = call();
    if let Some(before) = before {
        preserve_errno(|| set(fd, name, &before));
    }
    answer
}

fn get(fd: c_int, name: c_int) -> Option<timeval> {
    let mut value = timeval { tv_sec: 0, tv_usec: 0 };
    let mut length = size_of::<timeval>() as socklen_t;
    // SAFETY: room of that length.
    let asked = unsafe {
        original::getsockopt(fd, SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length)
    };
    (asked == 0).then_some(value)
}

fn set(fd: c_int, name: c_int, value: &timeval) {
    let length = size_of::<timeval>() as socklen_t;
    // SAFETY: a live value of that length.
    let _ = unsafe {
        original::setsockopt(fd, SOL_SOCKET, name, core::ptr::from_ref(value).cast(), length)
    };
}
