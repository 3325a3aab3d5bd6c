//! Locks of many readers or one writer.
//!
//! # Safety
//! Guards exist only while the word counts them.
#![allow(unsafe_code)]

use crate::futex::{sleep, wake};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// Many readers or one writer.
#[derive(Default)]
pub(crate) struct RwLock<T> {
    /// The number of readers, and two bits.
    word: AtomicU32,
    value: UnsafeCell<T>,
}

const WRITER: u32 = 1 << 31;
/// Somebody may sleep. Readers that come then wait too, so that a writer gets his turn.
const SLEEPER: u32 = 1 << 30;

// SAFETY: the word lets at the value readers, who share it, or one writer.
unsafe impl<T: Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    pub(crate) const fn new(value: T) -> RwLock<T> {
        RwLock { word: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// Not for a thread that reads already: a writer may wait in between.
    #[inline]
    pub(crate) fn read(&self) -> ReadGuard<'_, T> {
        self.enter(|word| (word & (WRITER | SLEEPER) == 0).then_some(word + 1));
        ReadGuard { lock: self, thread: PhantomData }
    }

    #[inline]
    pub(crate) fn write(&self) -> WriteGuard<'_, T> {
        self.enter(|word| (word & !SLEEPER == 0).then_some(word | WRITER));
        WriteGuard { lock: self, thread: PhantomData }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Waits until the word lets the caller in, and makes it what `taken` says.
    fn enter(&self, taken: impl Fn(u32) -> Option<u32>) {
        while self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, &taken).is_err() {
            self.wait_for_change();
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_for_change(&self) {
        let before = self.word.fetch_or(SLEEPER, Ordering::Relaxed);
        // Whoever was in is the one to wake us.
        if before & !SLEEPER != 0 {
            // SAFETY: a live word.
            unsafe { sleep(self.word.as_ptr(), before | SLEEPER, None) };
        } else {
            self.leave_last(SLEEPER);
        }
    }

    /// Nobody is in any more, unless the word has changed.
    fn leave_last(&self, word: u32) {
        let left = self.word.compare_exchange(word, 0, Ordering::Release, Ordering::Relaxed);
        if left.is_ok() {
            wake(self.word.as_ptr(), libc::c_int::MAX);
        }
    }
}

/// The right to read.
pub(crate) struct ReadGuard<'a, T> {
    lock: &'a RwLock<T>,
    thread: PhantomData<*const ()>,
}

/// The right to read and write.
pub(crate) struct WriteGuard<'a, T> {
    lock: &'a RwLock<T>,
    thread: PhantomData<*const ()>,
}

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: there are only readers.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> Drop for ReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.lock.word.fetch_sub(1, Ordering::Release) == SLEEPER + 1 {
            self.lock.leave_last(SLEEPER);
        }
    }
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for WriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.lock.word.swap(0, Ordering::Release) & SLEEPER != 0 {
            wake(self.lock.word.as_ptr(), libc::c_int::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn readers_see_no_half_of_a_writer() {
        static PAIR: RwLock<(u64, u64)> = RwLock::new((0, 0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let mut pair = PAIR.write();
                        pair.0 += 1;
                        if pair.0.is_multiple_of(500) {
                            thread::yield_now();
                        }
                        pair.1 += 1;
                    }
                });
                scope.spawn(|| {
                    while PAIR.read().0 < 10_000 {
                        let pair = PAIR.read();
                        assert_eq!(pair.0, pair.1);
                    }
                });
            }
        });
        assert_eq!(PAIR.word.load(Ordering::Relaxed), 0);
    }
}
