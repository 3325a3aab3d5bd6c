//! The calls that are taken from libc. Each looks its descriptor up and goes on to libc's function or
//! to ours; nothing else is visible from outside (export/librspreload.map).
//!
//! # Safety
//! Stores the thread's errno.
#![allow(unsafe_code)]

mod descriptor;
mod fortified;
mod message;
mod positioned;
mod printed;
mod ready;
mod socket;

use crate::error::{Errno, Result};
use libc::c_int;
pub(crate) use message::{read, write};

/// C's way to say that a call failed.
pub(crate) fn fail(error: Errno) -> c_int {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() = error.raw() };
    -1
}

fn answer(result: Result<c_int>) -> c_int {
    result.unwrap_or_else(fail)
}
