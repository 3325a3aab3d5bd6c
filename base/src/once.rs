// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Values of the process that are made at first use.
//!
//! No thread waits for a `Once`: threads that come at the same time each make the value, and the
//! first one is kept. Threads wait for an `OnceLock`, whose value is made once.
//!
//! # Safety
//! The value of an `OnceLock` is read only after `is_made`.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result};
use crate::lock::Mutex;
use crate::memory::try_box;
use core::cell::UnsafeCell;
use core::convert::Infallible;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};
use once_cell::race::OnceBox;

/// For statics.
pub struct Once<T>(OnceBox<T>);

impl<T> Once<T> {
    pub const fn new() -> Once<T> {
        Once(OnceBox::new())
    }

    /// If the value cannot be kept for want of memory, the next call makes it anew.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> T
    where
        T: Copy,
    {
        if let Some(kept) = self.0.get() {
            return *kept;
        }
        let value = make();
        try_box(value).map_or(value, |fresh| *self.0.get_or_init(|| fresh))
    }

    /// A failure is not kept: the next call tries again.
    pub fn get_or_try_init(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        self.0.get_or_try_init::<_, Errno>(|| make().and_then(try_box))
    }
}

/// For values that must be made once only, or without an allocation: threads that come at the same
/// time wait for the first.
pub struct OnceLock<T> {
    making: Mutex<()>,
    is_made: AtomicBool,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value is written once, under the lock, before `is_made` publishes it to readers.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    #[must_use]
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            making: Mutex::new(()),
            is_made: AtomicBool::new(false),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: made, and never written again.
        self.is_made
            .load(Ordering::Acquire)
            .then(|| unsafe { (*self.value.get()).assume_init_ref() })
    }

    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let Ok(kept) = self.get_or_make(|| Ok::<T, Infallible>(make()));
        kept
    }

    /// A failure is not kept: the next call tries again.
    pub fn get_or_try_init(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        self.get_or_make(make)
    }

    #[inline]
    fn get_or_make<E>(
        &self,
        make: impl FnOnce() -> core::result::Result<T, E>,
    ) -> core::result::Result<&T, E> {
        self.get().map_or_else(|| self.make(make), Ok)
    }

    #[cold]
    #[inline(never)]
    fn make<E>(
        &self,
        make: impl FnOnce() -> core::result::Result<T, E>,
    ) -> core::result::Result<&T, E> {
        let _making = self.making.lock();
        if let Some(kept) = self.get() {
            return Ok(kept);
        }
        let value = make()?;
        // SAFETY: not made yet, and this thread alone makes it.
        let kept = unsafe { (*self.value.get()).write(value) };
        self.is_made.store(true, Ordering::Release);
        Ok(kept)
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        if *self.is_made.get_mut() {
            // SAFETY: made, and dropped once.
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays_and_failures_do_not() {
        let once = Once::new();
        assert_eq!(once.get_or_try_init(|| Err(Errno::ENOENT)), Err(Errno::ENOENT));
        assert_eq!(once.get_or_try_init(|| Ok(5)), Ok(&5));
        assert_eq!(once.get_or_try_init(|| Err(Errno::EIO)), Ok(&5));
        assert_eq!(once.get_or_init(|| 6), 5);
    }

    #[test]
    fn all_threads_see_one_value() {
        static ONCE: Once<usize> = Once::new();
        let seen: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|number| scope.spawn(move || ONCE.get_or_init(|| number))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        assert_eq!(seen.len(), 8);
        assert!(seen.iter().all(|value| *value == seen[0]));
    }
}
