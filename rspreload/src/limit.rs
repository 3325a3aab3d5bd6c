//! SO_RCVTIMEO and SO_SNDTIMEO, which the kernel's socket keeps: for calls that wait here and there.
//!
//! # Safety
//! Socket options with live values of our own.
#![allow(unsafe_code)]

use crate::error::quietly;
use crate::real;
use libc::{SOL_SOCKET, c_int, socklen_t, timeval};
use std::time::Duration;

/// None for no limit.
pub(crate) fn of(fd: c_int, name: c_int) -> Option<Duration> {
    let span = get(fd, name)?;
    let seconds = Duration::from_secs(span.tv_sec.unsigned_abs());
    let span = seconds + Duration::from_micros(span.tv_usec.unsigned_abs());
    (!span.is_zero()).then_some(span)
}

/// One call of the kernel's under a limit of ours. Its errno is left as it is.
pub(crate) fn during<R>(fd: c_int, name: c_int, limit: Duration, call: impl FnOnce() -> R) -> R {
    let before = get(fd, name);
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
        quietly(|| set(fd, name, &before));
    }
    answer
}

fn get(fd: c_int, name: c_int) -> Option<timeval> {
    let mut value = timeval { tv_sec: 0, tv_usec: 0 };
    let mut length = size_of::<timeval>() as socklen_t;
    // SAFETY: room of that length.
    let asked =
        unsafe { real::getsockopt(fd, SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length) };
    (asked == 0).then_some(value)
}

fn set(fd: c_int, name: c_int, value: &timeval) {
    let length = size_of::<timeval>() as socklen_t;
    // SAFETY: a live value of that length.
    let _ =
        unsafe { real::setsockopt(fd, SOL_SOCKET, name, std::ptr::from_ref(value).cast(), length) };
}
