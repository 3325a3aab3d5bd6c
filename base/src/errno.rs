// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The error type of both libraries: a positive errno. Each library has one place that stores it
//! for C.
//!
//! # Safety
//! The thread's errno is read and restored.
#![allow(unsafe_code)]

use core::num::NonZeroI32;

/// A positive errno value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(NonZeroI32);

/// What every fallible operation of the library returns.
pub type Result<T> = core::result::Result<T, Errno>;

macro_rules! named {
    ($($name:ident)*) => {
        $(#[allow(missing_docs)] pub const $name: Errno = Errno::of(libc::$name);)*

        fn name(self) -> Option<&'static str> {
            match self.raw() {
                $(libc::$name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

impl Errno {
    /// Takes the sign off; zero, which no failing call should report, becomes EIO.
    #[must_use]
    pub const fn of(value: i32) -> Errno {
        let value = value.saturating_abs();
        match NonZeroI32::new(value) {
            Some(value) => Errno(value),
            None => Errno::of(libc::EIO),
        }
    }

    named! {
        EPERM ENOENT EEXIST EINTR EIO ENXIO EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY ENODEV EINVAL
        EMFILE ENFILE ENOSPC EPIPE ENODATA ENOSYS EPROTO EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT
        EALREADY ECONNREFUSED ECONNRESET EDESTADDRREQ EHOSTUNREACH EISCONN EMSGSIZE ENOBUFS
        ENOTCONN ENOTSOCK EOPNOTSUPP EPROTONOSUPPORT ETIMEDOUT EINPROGRESS ECONNABORTED EOVERFLOW
        ENETUNREACH ESHUTDOWN ENOLCK ENOPROTOOPT ECANCELED EBADMSG
        ESOCKTNOSUPPORT
    }

    /// The errno that the last failing C call of this thread left.
    #[must_use]
    pub fn last() -> Errno {
        // SAFETY: the location is valid for the life of the thread.
        Errno::of(unsafe { *libc::__errno_location() })
    }

    /// The number as C knows it, above zero.
    #[must_use]
    pub const fn raw(self) -> i32 {
        self.0.get()
    }

    /// Reads the return value of a C call that gives an error number itself (most of libibverbs).
    #[inline]
    pub fn check(returned: i32) -> Result<()> {
        if returned == 0 { Ok(()) } else { Err(Errno::returned(returned)) }
    }

    // Failures are out of line: what succeeds pays one comparison.
    #[cold]
    #[inline(never)]
    fn returned(code: i32) -> Errno {
        if code == -1 { Errno::last() } else { Errno::of(code) }
    }
}

/// Runs `work` and restores the thread's errno.
pub fn preserve_errno<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the location is valid for the life of the thread.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *place };
    let result = work();
    // SAFETY: as above.
    unsafe { *place = before };
    result
}

impl core::fmt::Debug for Errno {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "errno {}", self.raw()),
        }
    }
}

impl core::fmt::Display for Errno {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self, f)
    }
}

impl core::error::Error for Errno {}

#[cfg(test)]
mod tests {
    use super::Errno;

    #[test]
    fn values_are_always_positive() {
        for (given, kept) in [(22, 22), (-22, 22), (0, libc::EIO), (i32::MIN, i32::MAX)] {
            assert_eq!(Errno::of(given).raw(), kept);
        }
    }

    #[test]
    fn quiet_work_leaves_errno_alone() {
        let failing = || std::fs::File::open("/nowhere").map(drop);
        assert!(failing().is_err());
        let before = Errno::last();
        assert!(
            super::preserve_errno(|| std::fs::File::open("/dev/null/nowhere").map(drop)).is_err()
        );
        assert_eq!(Errno::last(), before);
    }

    #[test]
    fn verbs_results_are_read_by_their_own_rule() {
        assert_eq!(Errno::check(0), Ok(()));
        assert_eq!(Errno::check(libc::ENOMEM), Err(Errno::ENOMEM));
        assert_eq!(Errno::check(-libc::EINVAL), Err(Errno::EINVAL));
    }
}
