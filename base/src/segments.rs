// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! An array that grows and never moves: its parts are looked up without a lock, by any number of
//! threads.
//!
//! # Safety
//! A segment is published whole, of zeros, and never freed or moved.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result};
use alloc::alloc::{Layout, alloc_zeroed, dealloc};
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Elements in the first segment; each further one has twice as many.
const FIRST: usize = 64;

/// A type whose values may be made of zeros.
///
/// # Safety
/// Memory of zeros is a value.
pub unsafe trait Zeroed {}

/// Meant for statics: its memory is never freed. It has room for `FIRST * (2^COUNT - 1)` elements.
pub struct Segments<T, const COUNT: usize> {
    segments: [AtomicPtr<T>; COUNT],
    /// All threads share the elements.
    elements: PhantomData<T>,
}

impl<T: Zeroed, const COUNT: usize> Segments<T, COUNT> {
    #[must_use]
    pub const fn new() -> Segments<T, COUNT> {
        const { assert!(size_of::<T>() > 0) };
        let segments = [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];
        Segments { segments, elements: PhantomData }
    }

    /// The segment that has an element, and where: segment k has `FIRST << k` elements.
    #[inline]
    fn place(index: usize) -> Option<(usize, usize)> {
        let position = index.checked_add(FIRST)?;
        let segment = (position / FIRST).ilog2() as usize;
        (segment < COUNT).then_some((segment, position - (FIRST << segment)))
    }

    /// None where the array has not grown so far.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        let (segment, place) = Self::place(index)?;
        let start = self.segments[segment].load(Ordering::Acquire);
        // SAFETY: published whole and never freed; `place` lies within it.
        (!start.is_null()).then(|| unsafe { &*start.add(place) })
    }

    /// Grows the array where it has to; ENOMEM also beyond its room.
    pub fn get_or_grow(&self, index: usize) -> Result<&T> {
        if let Some(element) = self.get(index) {
            return Ok(element);
        }
        let (segment, _) = Self::place(index).ok_or(Errno::ENOMEM)?;
        self.grow(segment)?;
        self.get(index).ok_or(Errno::ENOMEM)
    }

    #[cold]
    fn grow(&self, segment: usize) -> Result<()> {
        let layout = Layout::array::<T>(FIRST << segment).map_err(|_| Errno::ENOMEM)?;
        // SAFETY: not an empty layout; zeros are values. A segment that lost the race is freed with
        // the layout it was made with, and its values are nothing to drop.
        unsafe {
            let fresh = alloc_zeroed(layout).cast::<T>();
            if fresh.is_null() {
                return Err(Errno::ENOMEM);
            }
            let (order, before) = (Ordering::AcqRel, ptr::null_mut());
            let place = &self.segments[segment];
            if place.compare_exchange(before, fresh, order, Ordering::Acquire).is_err() {
                dealloc(fresh.cast(), layout);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;

    struct Count(AtomicUsize);

    // SAFETY: an integer.
    unsafe impl Zeroed for Count {}

    type Counts = Segments<Count, 12>;

    #[test]
    fn places_are_dense_and_distinct() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(Counts::place(index), Some(expected));
            expected = match expected {
                (segment, place) if place + 1 == FIRST << segment => (segment + 1, 0),
                (segment, place) => (segment, place + 1),
            };
        }
    }

    #[test]
    fn any_index_may_be_asked_for() {
        static ARRAY: Counts = Counts::new();
        let last = FIRST * ((1 << 12) - 1) - 1;
        for index in [0, 63, 64, 70_000, last, last + 1, usize::MAX] {
            assert!(ARRAY.get(index).is_none());
        }
        assert!(ARRAY.get_or_grow(last).is_ok() && ARRAY.get(last - 1).is_some());
        assert!(ARRAY.get(0).is_none());
        for beyond in [last + 1, usize::MAX - 10, usize::MAX] {
            assert_eq!(ARRAY.get_or_grow(beyond).err(), Some(Errno::ENOMEM));
        }
    }

    #[test]
    fn elements_of_threads_that_grow_it_are_the_same() {
        static ARRAY: Counts = Counts::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for index in 0..5_000 {
                        if let Ok(count) = ARRAY.get_or_grow(index) {
                            count.0.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        for index in 0..5_000 {
            assert_eq!(ARRAY.get(index).map(|count| count.0.load(Ordering::Relaxed)), Some(4));
        }
    }
}
