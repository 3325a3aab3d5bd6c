// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! errno, which C callers read after a call that failed. Nothing else in this library stores it.
//!
//! # Safety
//! Stores the thread's errno.
#![allow(unsafe_code)]

use base::errno::{Errno, Result};
use libc::c_int;

/// Stores the error and returns what C functions return on failure.
pub(crate) fn fail(error: Errno) -> c_int {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() = error.raw() };
    -1
}

/// What a C function returns for a result.
pub(crate) fn answer(result: Result<c_int>) -> c_int {
    result.unwrap_or_else(fail)
}
