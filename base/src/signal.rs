// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What the process does with signals.
//!
//! # Safety
//! sigaction(2), which only asks.
#![allow(unsafe_code)]

use core::mem;
use core::ptr;

/// The highest signal number of Linux.
const LAST: libc::c_int = 64;

/// Whether a call that a signal has interrupted goes on, as read(2) on a socket would. Which signal
/// it was cannot be known: so it does when every handler of the process was installed with
/// SA_RESTART.
#[cold]
#[must_use]
pub fn restarts_after_signal() -> bool {
    (1..=LAST).all(|signal| {
        // SAFETY: integers, pointers and a mask: valid when zero.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        // SAFETY: a live place; nothing is changed.
        if unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) } != 0 {
            return true;
        }
        action.sa_sigaction == libc::SIG_DFL
            || action.sa_sigaction == libc::SIG_IGN
            || action.sa_flags & libc::SA_RESTART != 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn handler(_: libc::c_int) {}

    fn install(flags: libc::c_int) {
        // SAFETY: valid when zero; a handler that does nothing, for a signal that nobody sends.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = flags;
            assert_eq!(libc::sigaction(libc::SIGUSR2, &raw const action, ptr::null_mut()), 0);
        }
    }

    #[test]
    fn one_handler_without_the_flag_is_enough() {
        // Rust's test programs have handlers of their own.
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: the default.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        install(libc::SA_RESTART);
        assert!(restarts_after_signal());
        install(0);
        assert!(!restarts_after_signal());
        // SAFETY: as before the test.
        unsafe { libc::signal(libc::SIGUSR2, libc::SIG_DFL) };
        assert!(restarts_after_signal());
    }
}
