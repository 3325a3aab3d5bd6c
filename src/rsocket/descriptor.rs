// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Flags of descriptors.
//!
//! # Safety
//! fcntl(2): the commands used here take an integer; those of rfcntl's caller come with its argument.
#![allow(unsafe_code)]

use base::errno::{Errno, Result};
use base::fd::RawFd;
use libc::{c_int, c_long};

pub(crate) fn control(fd: RawFd, command: c_int, argument: c_long) -> Result<c_int> {
    // SAFETY: an integer, or what the C contract of rfcntl has there.
    let answer = unsafe { libc::fcntl(fd, command, argument) };
    if answer < 0 { Err(Errno::last()) } else { Ok(answer) }
}

pub(crate) fn set_close_on_exec(fd: RawFd, on: bool) -> Result<()> {
    control(fd, libc::F_SETFD, if on { libc::FD_CLOEXEC.into() } else { 0 }).map(drop)
}
