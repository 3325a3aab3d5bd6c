// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Words that the kernel waits on (futex(2)), within a process. errno stays as it was.
//!
//! # Safety
//! The kernel reads the words, it never writes.
#![allow(unsafe_code)]

use crate::deadline::Deadline;
use crate::system_call::system_call;
use core::ptr;
use libc::c_int;

const WAIT: usize = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
const WAKE: usize = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;

/// Sleeps while the word is `expected`, until a wake-up or the deadline. Spurious wake-ups are
/// possible.
///
/// # Safety
/// `word` is four readable bytes.
#[cold]
#[inline(never)]
pub unsafe fn sleep(word: *const u32, expected: u32, until: Deadline) {
    let left = until.left_timespec();
    let left = left.as_ref().map_or(ptr::null(), ptr::from_ref).expose_provenance();
    let arguments = [word.expose_provenance(), WAIT, expected as usize, left];
    // SAFETY: by contract; the time lives until the call returns. Why it returned is not asked.
    let _ = unsafe { system_call(libc::SYS_futex, arguments) };
}

/// Wakes at most `count` sleepers. Only the address matters: the word may be freed already.
#[cold]
#[inline(never)]
// The kernel compares the address and reads nothing.
#[allow(clippy::not_unsafe_ptr_arg_deref)]
pub fn wake(word: *const u32, count: c_int) {
    let arguments = [word.expose_provenance(), WAKE, count as usize, 0];
    // SAFETY: nothing is read or written. There may be no sleeper.
    let _ = unsafe { system_call(libc::SYS_futex, arguments) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errno::Errno;
    use core::sync::atomic::{AtomicU32, Ordering};
    use core::time::Duration;

    #[test]
    fn a_changed_word_is_not_slept_on() {
        let word = AtomicU32::new(1);
        // SAFETY: a live word.
        unsafe { sleep(word.as_ptr(), 0, Deadline::Never) };
    }

    #[test]
    fn a_deadline_ends_a_sleep_and_errno_stays() {
        let word = AtomicU32::new(0);
        let deadline = Deadline::after(Duration::from_millis(10));
        // SAFETY: the thread's own errno.
        unsafe { *libc::__errno_location() = libc::EPIPE };
        while !deadline.has_passed() {
            // SAFETY: a live word.
            unsafe { sleep(word.as_ptr(), 0, deadline) };
            assert_eq!(Errno::last(), Errno::EPIPE);
        }
    }

    #[test]
    fn a_sleeper_is_woken() {
        let word = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::Relaxed) == 0 {
                    // SAFETY: a live word.
                    unsafe { sleep(word.as_ptr(), 0, Deadline::Never) };
                }
            });
            crate::time::sleep(Duration::from_millis(5));
            word.store(1, Ordering::Relaxed);
            wake(word.as_ptr(), 1);
        });
    }
}
