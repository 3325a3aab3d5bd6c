// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Results in the convention of C. This file is the only one that sets errno; `base::errno::preserve_errno`
//! only restores it.
//!
//! # Safety
//! Writes the errno of the thread.
#![allow(unsafe_code)]

use crate::addrinfo::Failure;
use base::errno::{Errno, Result};
use libc::c_int;

// Out of line, so that success is the fall-through path of every function.
#[cold]
#[inline(never)]
fn set_errno(error: Errno) {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() = error.raw() };
}

/// Converts a result to its C value. Success does not change errno.
pub(super) trait IntoC {
    type C;
    fn into_c(self) -> Self::C;
}

/// 0, or -1 with errno.
impl IntoC for Result<()> {
    type C = c_int;

    #[inline]
    fn into_c(self) -> c_int {
        match self {
            Ok(()) => 0,
            Err(error) => {
                set_errno(error);
                -1
            }
        }
    }
}

/// 0, an EAI_ code, or -1 with errno. EAI_BADFLAGS equals -1 on glibc and does not set errno.
impl IntoC for core::result::Result<(), Failure> {
    type C = c_int;

    fn into_c(self) -> c_int {
        match self {
            Ok(()) => 0,
            Err(Failure::Resolver(code)) => code,
            Err(Failure::System(error)) => {
                set_errno(error);
                libc::EAI_SYSTEM
            }
            Err(Failure::Own(error)) => Err::<(), _>(error).into_c(),
        }
    }
}

/// A count or descriptor, or -1 with errno.
impl IntoC for Result<c_int> {
    type C = c_int;

    #[inline]
    fn into_c(self) -> c_int {
        self.unwrap_or_else(|error| {
            set_errno(error);
            -1
        })
    }
}

/// A size, or -1 with errno.
impl IntoC for Result<isize> {
    type C = isize;

    fn into_c(self) -> isize {
        self.unwrap_or_else(|error| {
            set_errno(error);
            -1
        })
    }
}

/// A pointer, or NULL with errno.
impl<T> IntoC for Result<*mut T> {
    type C = *mut T;

    fn into_c(self) -> *mut T {
        self.unwrap_or_else(|error| {
            set_errno(error);
            core::ptr::null_mut()
        })
    }
}
