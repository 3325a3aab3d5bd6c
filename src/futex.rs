//! Words that the kernel waits on (futex(2)), within a process. errno stays as it was.
//!
//! # Safety
//! The kernel reads the words, it never writes.
#![allow(unsafe_code)]

use crate::error::quietly;
use std::ptr;
use std::time::Instant;

/// Sleeps while the word is `expected`, until it is woken or now and then for no reason.
///
/// # Safety
/// `word` is four readable bytes.
#[cold]
#[inline(never)]
pub(crate) unsafe fn sleep(word: *const u32, expected: u32, until: Option<Instant>) {
    let timeout = until.map(|until| {
        let left = until.saturating_duration_since(Instant::now());
        libc::timespec {
            tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: left.subsec_nanos().into(),
        }
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: by contract; the time lives until the call returns.
    quietly(|| unsafe { libc::syscall(libc::SYS_futex, word, operation, expected, timeout) });
}

/// Wakes at most `count` sleepers. The address is all that matters: it may be freed already.
#[cold]
#[inline(never)]
pub(crate) fn wake(word: *const u32, count: libc::c_int) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: nothing is read or written.
    quietly(|| unsafe { libc::syscall(libc::SYS_futex, word, operation, count) });
}
