// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Values that each thread has for itself, by keys of pthread_key_create(3).
//!
//! Rust's own thread-local storage ends the process if a destructor cannot be registered for want
//! of memory; here that is an error. A signal handler may read them.
//!
//! # Safety
//! A key's value is NULL, a number, or a box that this module made for the calling thread.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result, preserve_errno};
use crate::memory::try_box;
use alloc::boxed::Box;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::{c_void, pthread_key_t};

type Destructor = unsafe extern "C" fn(*mut c_void);

/// A key that is made at first use; zero is none, others are the key plus one.
struct Key(AtomicU32);

impl Key {
    const fn new() -> Key {
        Key(AtomicU32::new(0))
    }

    #[inline]
    fn get(&self) -> Option<pthread_key_t> {
        self.0.load(Ordering::Acquire).checked_sub(1)
    }

    #[cold]
    fn make(&self, destructor: Option<Destructor>) -> Result<pthread_key_t> {
        let mut key: pthread_key_t = 0;
        // SAFETY: a live place; the destructor belongs to the values of this key.
        Errno::check(unsafe { libc::pthread_key_create(&raw mut key, destructor) })?;
        match self.0.compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(key),
            Err(other) => {
                // SAFETY: made above, and not used yet.
                unsafe { libc::pthread_key_delete(key) };
                Ok(other - 1)
            }
        }
    }
}

/// A number for each thread, zero at first.
pub struct ThreadNumber(Key);

impl ThreadNumber {
    #[must_use]
    pub const fn new() -> ThreadNumber {
        ThreadNumber(Key::new())
    }

    #[inline]
    #[must_use]
    pub fn get(&self) -> usize {
        // SAFETY: a key that exists.
        self.0.get().map_or(0, |key| unsafe { libc::pthread_getspecific(key) }.addr())
    }

    /// False where there is no memory for it; then it stays as it was.
    pub fn set(&self, number: usize) -> bool {
        let Ok(key) = self.0.get().map_or_else(|| self.0.make(None), Ok) else { return false };
        // SAFETY: a key that exists; the number is never used as an address.
        unsafe { libc::pthread_setspecific(key, ptr::without_provenance(number)) == 0 }
    }
}

impl Default for ThreadNumber {
    fn default() -> ThreadNumber {
        ThreadNumber::new()
    }
}

/// A value for each thread, made at its first use and dropped at the thread's end.
pub struct PerThread<T> {
    key: Key,
    value: PhantomData<fn() -> T>,
}

unsafe extern "C" fn end<T>(value: *mut c_void) {
    // SAFETY: the thread's own box, which nothing uses any more.
    preserve_errno(|| drop(unsafe { Box::from_raw(value.cast::<T>()) }));
}

impl<T: Default> PerThread<T> {
    #[must_use]
    pub const fn new() -> PerThread<T> {
        PerThread { key: Key::new(), value: PhantomData }
    }

    /// ENOMEM or EAGAIN where the value cannot be made.
    pub fn with<R>(&self, work: impl FnOnce(&T) -> R) -> Result<R> {
        let key = self.key.get().map_or_else(|| self.key.make(Some(end::<T>)), Ok)?;
        // SAFETY: a key that exists.
        let mut value = unsafe { libc::pthread_getspecific(key) }.cast::<T>();
        if value.is_null() {
            let fresh = Box::into_raw(try_box(T::default())?);
            // SAFETY: a key that exists.
            let stored = unsafe { libc::pthread_setspecific(key, fresh.cast()) };
            if let Err(error) = Errno::check(stored) {
                // SAFETY: made above, and nobody else's.
                drop(unsafe { Box::from_raw(fresh) });
                return Err(error);
            }
            value = fresh;
        }
        // SAFETY: this thread's own box, which lives until the thread ends.
        Ok(work(unsafe { &*value }))
    }
}

impl<T: Default> Default for PerThread<T> {
    fn default() -> PerThread<T> {
        PerThread::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use core::sync::atomic::AtomicUsize;

    #[test]
    fn threads_have_their_own() {
        static NUMBER: ThreadNumber = ThreadNumber::new();
        assert_eq!(NUMBER.get(), 0);
        assert!(NUMBER.set(5));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(NUMBER.get(), 0);
                assert!(NUMBER.set(6));
            });
        });
        assert_eq!(NUMBER.get(), 5);
    }

    #[test]
    fn values_end_with_their_threads() {
        static DROPPED: AtomicUsize = AtomicUsize::new(0);
        #[derive(Default)]
        struct Counted(Cell<u32>);
        impl Drop for Counted {
            fn drop(&mut self) {
                DROPPED.fetch_add(1, Ordering::Relaxed);
            }
        }
        static VALUE: PerThread<Counted> = PerThread::new();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    assert!(VALUE.with(|value| value.0.set(7)).is_ok());
                    assert_eq!(VALUE.with(|value| value.0.get()), Ok(7));
                });
            }
        });
        // A scope does not wait for the destructors of its threads.
        let end = crate::time::Instant::now() + core::time::Duration::from_secs(5);
        while DROPPED.load(Ordering::Relaxed) < 3 && crate::time::Instant::now() < end {
            std::thread::yield_now();
        }
        assert_eq!(DROPPED.load(Ordering::Relaxed), 3);
    }
}
