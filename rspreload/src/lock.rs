//! A lock that a fork's child can take although a thread that it does not have was holding it: the
//! holder's process is in the word.
//!
//! # Safety
//! The value is reached through a guard alone, of which there is one at a time in a process.
#![allow(unsafe_code)]

use crate::futex;
use crate::process;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
/// Somebody sleeps.
const AWAITED: u32 = 1;

/// See the module text.
#[derive(Default)]
pub(crate) struct Lock<T> {
    /// Free, or the holder's generation and whether it is awaited.
    word: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the guard gives the value to one thread at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

pub(crate) struct Guard<'a, T>(&'a Lock<T>);

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Lock<T> {
        Lock { word: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let mut own = process::generation() << 1;
        loop {
            let seen = self.word.load(Ordering::Relaxed);
            let is_lost = seen & !AWAITED != own & !AWAITED;
            if seen == FREE || is_lost {
                let taken =
                    self.word.compare_exchange(seen, own, Ordering::Acquire, Ordering::Relaxed);
                if taken.is_ok() {
                    return Guard(self);
                }
                continue;
            }
            let awaited = seen | AWAITED;
            let marked = seen == awaited
                || self
                    .word
                    .compare_exchange(seen, awaited, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            if marked {
                // SAFETY: the word lives as long as the lock.
                unsafe { futex::sleep(self.word.as_ptr(), awaited, None) };
                // There may be other sleepers, whom we have to wake.
                own |= AWAITED;
            }
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the one guard.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the one guard.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        let word = &self.0.word;
        if word.swap(FREE, Ordering::Release) & AWAITED != 0 {
            futex::wake(word.as_ptr(), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time() {
        static COUNT: Lock<u64> = Lock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50_000 {
                        *COUNT.lock() += 1;
                    }
                });
            }
        });
        assert_eq!(*COUNT.lock(), 200_000);
    }

    #[test]
    fn what_a_fork_lost_can_be_taken() {
        let lock = Lock::new(5);
        // Held by a process of another generation.
        lock.word.store((process::generation() + 7) << 1, Ordering::Relaxed);
        assert_eq!(*lock.lock(), 5);
        assert_eq!(lock.word.load(Ordering::Relaxed), FREE);
    }
}
