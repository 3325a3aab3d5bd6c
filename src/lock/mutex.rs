//! Mutexes and condition variables.
//!
//! # Safety
//! A guard exists only while its word says so, one at a time.
#![allow(unsafe_code)]

use crate::futex::{sleep, wake};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and somebody may sleep.
const AWAITED: u32 = 2;

/// Looks before the first sleep: what a lock protects takes a few instructions.
const LOOKS: u32 = 100;

/// As std's, without poison and with a limit.
#[derive(Default)]
pub(crate) struct Mutex<T> {
    word: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the word lets one thread at a time at the value.
unsafe impl<T: Send> Sync for Mutex<T> {}

/// The right to a mutex's value.
pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// Stays in its thread.
    thread: PhantomData<*const ()>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex { word: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        if !self.take() {
            self.wait();
        }
        self.guard()
    }

    /// `None` when it could not be had in time.
    pub(crate) fn try_lock_for(&self, limit: Duration) -> Option<MutexGuard<'_, T>> {
        // A limit beyond what the clock can count is none.
        let taken = self.take() || self.take_late(Instant::now().checked_add(limit));
        taken.then(|| self.guard())
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, thread: PhantomData }
    }

    #[inline]
    fn take(&self) -> bool {
        self.word.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        self.take_late(None);
    }

    fn take_late(&self, until: Option<Instant>) -> bool {
        for _ in 0..LOOKS {
            match self.word.load(Ordering::Relaxed) {
                FREE if self.take() => return true,
                AWAITED => break,
                _ => std::hint::spin_loop(),
            }
        }
        while self.word.swap(AWAITED, Ordering::Acquire) != FREE {
            if until.is_some_and(|until| until <= Instant::now()) {
                return false;
            }
            // SAFETY: a live word.
            unsafe { sleep(self.word.as_ptr(), AWAITED, until) };
        }
        true
    }

    #[inline]
    fn give_back(&self) {
        if self.word.swap(FREE, Ordering::Release) == AWAITED {
            wake(self.word.as_ptr(), 1);
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.give_back();
    }
}

/// Something that threads wait for under a mutex: a count of news, and in the lowest bit whether
/// somebody waits.
#[derive(Default)]
pub(crate) struct Condvar(AtomicU32);

const WAITED_FOR: u32 = 1;

impl Condvar {
    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_at_most(guard, None);
    }

    pub(crate) fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, until: Instant) {
        self.wait_at_most(guard, Some(until));
    }

    /// As all waits of this kind it may end for no reason.
    fn wait_at_most<T>(&self, guard: &mut MutexGuard<'_, T>, until: Option<Instant>) {
        // News under the mutex come after this, and are seen to change the word.
        let seen = self.0.fetch_or(WAITED_FOR, Ordering::Relaxed) | WAITED_FOR;
        guard.mutex.give_back();
        // SAFETY: a live word.
        unsafe { sleep(self.0.as_ptr(), seen, until) };
        if !guard.mutex.take() {
            guard.mutex.wait();
        }
    }

    /// To be called under the mutex that the others wait with.
    #[inline]
    pub(crate) fn notify_all(&self) {
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
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    #[test]
    fn one_thread_at_a_time() {
        static COUNT: Mutex<u64> = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut count = COUNT.lock();
                        let before = *count;
                        if before.is_multiple_of(1000) {
                            thread::yield_now();
                        }
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(*COUNT.lock(), 80_000);
        assert_eq!(COUNT.word.load(Ordering::Relaxed), FREE);
    }

    #[test]
    fn a_limit_ends_the_wait_for_a_mutex() {
        let mutex = Mutex::new(());
        let held = mutex.lock();
        let began = Instant::now();
        assert!(mutex.try_lock_for(Duration::from_millis(20)).is_none());
        assert!(began.elapsed() >= Duration::from_millis(20));
        drop(held);
        assert!(mutex.try_lock_for(Duration::ZERO).is_some());
        assert!(mutex.try_lock_for(Duration::MAX).is_some());
    }

    #[test]
    fn every_sleeper_hears_the_news() {
        static READY: Mutex<u32> = Mutex::new(0);
        static NEWS: Condvar = Condvar(AtomicU32::new(0));
        static HEARD: AtomicUsize = AtomicUsize::new(0);
        thread::scope(|scope| {
            for round in 1..=50 {
                for _ in 0..3 {
                    scope.spawn(move || {
                        let mut ready = READY.lock();
                        while *ready < round {
                            NEWS.wait(&mut ready);
                        }
                        HEARD.fetch_add(1, Ordering::Relaxed);
                    });
                }
                let mut ready = READY.lock();
                *ready = round;
                NEWS.notify_all();
            }
        });
        assert_eq!(HEARD.load(Ordering::Relaxed), 150);
    }

    #[test]
    fn a_wait_for_news_has_an_end() {
        let (mutex, news) = (Mutex::new(()), Condvar::default());
        let mut guard = mutex.lock();
        let until = Instant::now() + Duration::from_millis(20);
        while Instant::now() < until {
            news.wait_until(&mut guard, until);
        }
        drop(guard);
        assert!(mutex.try_lock_for(Duration::ZERO).is_some());
    }
}
