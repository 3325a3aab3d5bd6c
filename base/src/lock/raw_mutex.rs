// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The lock of mutexes.
//!
//! # Safety
//! The word lets one thread of a process in at a time. It is FREE, or the stamp of the process that
//! the holder is in (`fork::stamp`), and whether somebody may sleep.
#![allow(unsafe_code)]

use crate::deadline::Deadline;
use crate::fork::stamp;
use crate::futex::{sleep, wake};
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use lock_api::GuardNoSend;

const FREE: u32 = 0;
/// Somebody may sleep. Stamps are even.
const AWAITED: u32 = 1;

/// Checks before the first sleep: most holders are done after a few instructions.
const CHECKS: u32 = 100;

/// Free, or the stamp of the holder's process and whether somebody may sleep.
#[derive(Debug)]
pub struct RawMutex(AtomicU32);

impl RawMutex {
    #[inline]
    fn take(&self) -> bool {
        self.0.compare_exchange(FREE, stamp(), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// As `take`, for a lock whose holder may be in another process.
    #[cold]
    fn take_lost(&self) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        let is_held = word & !AWAITED == stamp();
        !is_held
            && self.0.compare_exchange(word, stamp(), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether a thread of another process holds it: of the parent, at the fork.
    pub(super) fn is_held_elsewhere(&self) -> bool {
        let word = self.0.load(Ordering::Relaxed) & !AWAITED;
        word != FREE && word != stamp()
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        self.take_late(Deadline::Never);
    }

    fn take_late(&self, until: Deadline) -> bool {
        let awaited = stamp() | AWAITED;
        for _ in 0..CHECKS {
            match self.0.load(Ordering::Relaxed) {
                FREE if self.take() => return true,
                word if word == awaited => break,
                _ => core::hint::spin_loop(),
            }
        }
        // Free, or held in another process: then this one has it now.
        while self.0.swap(awaited, Ordering::Acquire) | AWAITED == awaited {
            if until.has_passed() {
                return false;
            }
            // SAFETY: a live word.
            unsafe { sleep(self.0.as_ptr(), awaited, until) };
        }
        true
    }
}

// SAFETY: the word lets one thread in at a time.
unsafe impl lock_api::RawMutex for RawMutex {
    // A value for each lock, not one that they share.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: RawMutex = RawMutex(AtomicU32::new(FREE));

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        if !self.take() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.take() || self.take_lost()
    }

    #[inline]
    unsafe fn unlock(&self) {
        if self.0.swap(FREE, Ordering::Release) & AWAITED != 0 {
            wake(self.0.as_ptr(), 1);
        }
    }
}

// SAFETY: the word lets one thread in at a time.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Deadline;

    fn try_lock_for(&self, limit: Duration) -> bool {
        self.take() || self.take_late(Deadline::after(limit))
    }

    fn try_lock_until(&self, until: Deadline) -> bool {
        self.take() || self.take_late(until)
    }
}

#[cfg(test)]
mod tests {
    use crate::fork::stamp;
    use crate::fork::tests::in_a_child;
    use crate::lock::{Mutex, was_left_locked};
    use crate::time::Instant;
    use core::sync::atomic::Ordering;
    use core::time::Duration;
    use std::thread;

    fn word<T>(mutex: &Mutex<T>) -> u32 {
        // SAFETY: only read.
        unsafe { mutex.raw() }.0.load(Ordering::Relaxed)
    }

    #[test]
    fn one_thread_at_a_time() {
        static COUNT: Mutex<u64> = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut count = COUNT.lock();
                        let before = *count;
                        if before % 1000 == 0 {
                            thread::yield_now();
                        }
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(*COUNT.lock(), 80_000);
        assert_eq!(word(&COUNT), 0);
    }

    #[test]
    fn a_limit_ends_the_wait_for_a_mutex() {
        let mutex = Mutex::new(());
        let held = mutex.lock();
        let began = Instant::now();
        assert!(mutex.try_lock().is_none());
        assert!(mutex.try_lock_for(Duration::from_millis(20)).is_none());
        assert!(began.elapsed() >= Duration::from_millis(20));
        drop(held);
        assert!(mutex.try_lock().is_some());
        assert!(mutex.try_lock_for(Duration::ZERO).is_some());
        assert!(mutex.try_lock_for(Duration::MAX).is_some());
    }

    #[test]
    fn a_child_takes_what_a_fork_lost() {
        let mutex = Mutex::new(5);
        assert!(in_a_child(|| !was_left_locked(&mutex)));
        let held = mutex.lock();
        assert!(!was_left_locked(&mutex));
        assert!(in_a_child(|| {
            let was_left = was_left_locked(&mutex);
            let tried = mutex.try_lock().is_some();
            // Taken here, it is as good as any.
            was_left && tried && word(&mutex) == 0 && *mutex.lock() == 5 && {
                let _held = mutex.lock();
                word(&mutex) == stamp() && mutex.try_lock().is_none()
            }
        }));
        assert!(mutex.try_lock().is_none());
        drop(held);
        assert_eq!(word(&mutex), 0);
    }
}
