//! Flags of descriptors.
//!
//! # Safety
//! fcntl(2) without pointers.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use libc::c_int;
use std::os::fd::RawFd;

pub(crate) fn control(fd: RawFd, command: c_int, argument: c_int) -> Result<c_int> {
    // SAFETY: the commands used here take an integer.
    let answer = unsafe { libc::fcntl(fd, command, argument) };
    if answer < 0 { Err(Errno::last()) } else { Ok(answer) }
}

pub(super) fn set_close_on_exec(fd: RawFd, on: bool) -> Result<()> {
    control(fd, libc::F_SETFD, if on { libc::FD_CLOEXEC } else { 0 }).map(drop)
}

pub(super) fn set_non_blocking(fd: RawFd) -> Result<()> {
    let flags = control(fd, libc::F_GETFL, 0)?;
    control(fd, libc::F_SETFL, flags | libc::O_NONBLOCK).map(drop)
}
