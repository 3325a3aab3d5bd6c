// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Condition variables.
//!
//! # Safety
//! A guard's mutex is given back and taken again before the guard is used.
#![allow(unsafe_code)]

use super::MutexGuard;
use crate::deadline::Deadline;
use crate::futex::{sleep, wake};
use core::sync::atomic::{AtomicU32, Ordering};
use lock_api::RawMutex as _;

/// Something that threads wait for under a mutex: a count of changes, and in the lowest bit whether
/// somebody waits.
#[derive(Debug, Default)]
pub struct Condvar(AtomicU32);

const WAITED_FOR: u32 = 1;

impl Condvar {
    #[must_use]
    pub const fn new() -> Condvar {
        Condvar(AtomicU32::new(0))
    }

    /// As all waits of this kind it may end for no reason.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_until(guard, Deadline::Never);
    }

    /// As `wait`, and at its end it does not say whether the deadline has passed.
    pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, until: Deadline) {
        // Changes under the mutex come after this, and are seen to change the word.
        let seen = self.0.fetch_or(WAITED_FOR, Ordering::Relaxed) | WAITED_FOR;
        // SAFETY: the guard is the right to give it back, and is borrowed until it is taken again.
        // A live word.
        unsafe {
            let mutex = MutexGuard::mutex(guard).raw();
            mutex.unlock();
            sleep(self.0.as_ptr(), seen, until);
            mutex.lock();
        }
    }

    /// To be called under the mutex that the others wait with.
    #[inline]
    pub fn notify_all(&self) {
        if self.0.load(Ordering::Relaxed) & WAITED_FOR != 0 {
            // Carries the bit into the count.
            self.0.fetch_add(1, Ordering::Relaxed);
            wake(self.0.as_ptr(), libc::c_int::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Mutex;
    use core::sync::atomic::AtomicUsize;
    use core::time::Duration;
    use std::thread;

    #[test]
    fn every_sleeper_sees_the_change() {
        static READY: Mutex<u32> = Mutex::new(0);
        static CHANGED: Condvar = Condvar::new();
        static SEEN: AtomicUsize = AtomicUsize::new(0);
        thread::scope(|scope| {
            for round in 1..=50 {
                for _ in 0..3 {
                    scope.spawn(move || {
                        let mut ready = READY.lock();
                        while *ready < round {
                            CHANGED.wait(&mut ready);
                        }
                        SEEN.fetch_add(1, Ordering::Relaxed);
                    });
                }
                let mut ready = READY.lock();
                *ready = round;
                CHANGED.notify_all();
            }
        });
        assert_eq!(SEEN.load(Ordering::Relaxed), 150);
    }

    #[test]
    fn a_deadline_ends_the_wait() {
        let (mutex, changed) = (Mutex::new(()), Condvar::default());
        let mut guard = mutex.lock();
        let until = Deadline::after(Duration::from_millis(20));
        while !until.has_passed() {
            changed.wait_until(&mut guard, until);
        }
        assert!(mutex.try_lock().is_none());
        drop(guard);
        assert!(mutex.try_lock().is_some());
    }
}
