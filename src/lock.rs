//! Locks of one word that the kernel waits on (futex(2)).
//!
//! Nothing is shared between two locks. Where sleepers stand in a list of the process, a fork's child
//! inherits the list but not the sleepers: its threads get their stacks, and whoever sleeps or wakes
//! next follows pointers into them.
//!
//! # Safety
//! A guard exists only while its word says so, one at a time. The kernel reads the words, it never writes.
#![allow(unsafe_code)]

use crate::error::quietly;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and somebody may sleep.
const AWAITED: u32 = 2;

/// Looks before the first sleep: what a lock protects takes a few instructions.
const LOOKS: u32 = 100;

/// Sleeps while the word is `expected`, until it is woken or now and then for no reason.
///
/// # Safety
/// `word` is four readable bytes.
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
pub(crate) fn wake(word: *const u32, count: libc::c_int) {
    // SAFETY: nothing is read or written.
    unsafe {
        let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, word, operation, count);
    }
}

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
            self.take_late(None);
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
            guard.mutex.take_late(None);
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

/// std's, without poison.
#[derive(Default)]
pub(crate) struct RwLock<T>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) fn new(value: T) -> RwLock<T> {
        RwLock(std::sync::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> std::sync::RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> std::sync::RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
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
