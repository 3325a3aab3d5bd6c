//! Results in C's convention. Nothing else in the library stores errno, but for `error::quietly`, which
//! only puts back what was there.
//!
//! # Safety
//! Writes the thread's errno.
#![allow(unsafe_code)]

use crate::addrinfo::Failure;
use crate::error::{Errno, Result};
use libc::c_int;

// Out of line, so that success is the straight way through every function.
#[cold]
#[inline(never)]
fn set_errno(error: Errno) {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() = error.raw() };
}

/// What a result is in C. A success leaves errno alone.
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

/// 0, an EAI_ code, or -1 with errno. EAI_BADFLAGS is -1 too on glibc: it leaves errno alone.
impl IntoC for std::result::Result<(), Failure> {
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
            std::ptr::null_mut()
        })
    }
}

/// For functions of C type void that can still be called wrongly: errno is all there is to set.
impl IntoC for Result<((), ())> {
    type C = ();

    fn into_c(self) {
        if let Err(error) = self {
            set_errno(error);
        }
    }
}
