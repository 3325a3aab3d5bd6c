// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Values that belong to the process that made them. In a fork's child they are not there: their
//! threads are the parent's, their locks may be taken for ever, and their descriptors may be closed
//! and be something else's by now. So a child never touches them, not even to drop them.
//! The same holds in a process that has closed the library's descriptors (`witness`).
//!
//! # Safety
//! A value is reached, or dropped, in the process that made it alone. What a `PerProcess` has
//! published is never freed.
#![allow(unsafe_code)]

use crate::errno::Result;
use crate::fork::ownership;
use crate::memory::try_box;
use alloc::boxed::Box;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// One value, and whose it is.
#[derive(Debug)]
pub struct OfProcess<T> {
    ownership: u32,
    value: ManuallyDrop<T>,
}

impl<T> OfProcess<T> {
    /// A value of this process.
    pub fn new(value: T) -> OfProcess<T> {
        OfProcess { ownership: ownership(), value: ManuallyDrop::new(value) }
    }

    #[inline]
    fn is_own(&self) -> bool {
        self.ownership == ownership()
    }

    /// None in a process that did not make it.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.is_own().then_some(&*self.value)
    }

    /// As `get`.
    pub fn into_inner(self) -> Option<T> {
        let mut own = ManuallyDrop::new(self);
        // SAFETY: taken once, `own` is not used or dropped after this.
        own.is_own().then(|| unsafe { ManuallyDrop::take(&mut own.value) })
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.is_own() {
            // SAFETY: dropped once.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

/// A value that each process makes at first use, for statics.
pub struct PerProcess<T> {
    made: AtomicPtr<OfProcess<T>>,
    /// All threads share the value.
    value: PhantomData<T>,
}

impl<T: Sync + 'static> PerProcess<T> {
    #[must_use]
    pub const fn new() -> PerProcess<T> {
        PerProcess { made: AtomicPtr::new(ptr::null_mut()), value: PhantomData }
    }

    /// The value, if this process has made it.
    #[inline]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: NULL, or published.
        unsafe { self.made.load(Ordering::Acquire).as_ref() }?.get()
    }

    /// Nobody waits here: of threads that come at the same time each makes a value, and the first
    /// one is kept.
    #[inline]
    pub fn get_or_try_init(&self, make: impl FnOnce() -> Result<T>) -> Result<&'static T> {
        self.get().map_or_else(|| self.init(make), Ok)
    }

    #[cold]
    #[inline(never)]
    fn init(&self, make: impl FnOnce() -> Result<T>) -> Result<&'static T> {
        let mut seen = self.made.load(Ordering::Acquire);
        // SAFETY: NULL, or published.
        if let Some(value) = unsafe { seen.as_ref() }.and_then(OfProcess::get) {
            return Ok(value);
        }
        let fresh = Box::into_raw(try_box(OfProcess::new(make()?))?);
        loop {
            match self.made.compare_exchange(seen, fresh, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: published.
                Ok(_) => return Ok(unsafe { &(*fresh).value }),
                Err(now) => seen = now,
            }
            // SAFETY: as above.
            if let Some(value) = unsafe { seen.as_ref() }.and_then(OfProcess::get) {
                // SAFETY: made above, and not published.
                drop(unsafe { Box::from_raw(fresh) });
                return Ok(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errno::Errno;
    use crate::fork::tests::in_a_child;
    use core::sync::atomic::AtomicUsize;

    struct Tells<'a>(&'a AtomicUsize);

    impl Drop for Tells<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_child_neither_reaches_nor_drops_it() {
        let dropped = AtomicUsize::new(0);
        let (first, second) = (OfProcess::new(Tells(&dropped)), OfProcess::new(Tells(&dropped)));
        assert!(first.get().is_some());
        assert!(in_a_child(|| {
            let is_hidden = first.get().is_none() && second.into_inner().is_none();
            drop(first);
            is_hidden && dropped.load(Ordering::Relaxed) == 0
        }));
        drop(OfProcess::new(Tells(&dropped)).into_inner());
        drop(OfProcess::new(Tells(&dropped)));
        assert!(dropped.load(Ordering::Relaxed) >= 2);
    }

    #[test]
    fn each_process_makes_its_own() {
        static VALUE: PerProcess<u32> = PerProcess::new();
        assert_eq!(VALUE.get(), None);
        assert_eq!(VALUE.get_or_try_init(|| Err(Errno::EMFILE)), Err(Errno::EMFILE));
        assert_eq!(VALUE.get_or_try_init(|| Ok(5)), Ok(&5));
        assert_eq!(VALUE.get_or_try_init(|| Ok(6)), Ok(&5));
        assert!(in_a_child(|| VALUE.get().is_none() && VALUE.get_or_try_init(|| Ok(7)) == Ok(&7)));
        assert_eq!(VALUE.get(), Some(&5));
    }

    #[test]
    fn all_threads_see_one_value() {
        static VALUE: PerProcess<usize> = PerProcess::new();
        let seen: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|number| scope.spawn(move || VALUE.get_or_try_init(|| Ok(number)).copied()))
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()?.ok()).collect()
        });
        assert_eq!(seen.len(), 8);
        assert!(seen.iter().all(|value| *value == seen[0]));
    }
}
