// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Memory that was given back recently. It stays what it is for a while, so that who gives it back
//! again can be told, and is then used again or freed.
//!
//! # Safety
//! A place has an object that nobody else has, or none.
#![allow(unsafe_code)]

use alloc::boxed::Box;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// So many stay before the oldest is used again.
pub(super) const REST: usize = 16;
const PLACES: usize = 32;

/// For a static. Objects go in at one end and out at the other; threads that do so together may get
/// them in another order.
pub(super) struct Recent<T> {
    places: [AtomicPtr<T>; PLACES],
    put: AtomicUsize,
    taken: AtomicUsize,
}

impl<T> Recent<T> {
    pub(super) const fn new() -> Recent<T> {
        Recent {
            places: [const { AtomicPtr::new(ptr::null_mut()) }; PLACES],
            put: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
        }
    }

    fn swap(&self, counter: &AtomicUsize, object: *mut T) -> Option<Box<T>> {
        let place = &self.places[counter.fetch_add(1, Ordering::Relaxed) % PLACES];
        let other = place.swap(object, Ordering::AcqRel);
        // SAFETY: it was the place's.
        (!other.is_null()).then(|| unsafe { Box::from_raw(other) })
    }

    /// Keeps an object, and frees the one that has to go for it.
    pub(super) fn put(&self, object: Box<T>) {
        if self.swap(&self.put, Box::into_raw(object)).is_some() {
            self.taken.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The oldest, where enough others are younger.
    pub(super) fn take(&self) -> Option<Box<T>> {
        let kept =
            self.put.load(Ordering::Relaxed).wrapping_sub(self.taken.load(Ordering::Relaxed));
        // Of counters that race the difference may be below zero.
        if kept as isize > REST as isize { self.swap(&self.taken, ptr::null_mut()) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(recent: &Recent<usize>) -> Option<usize> {
        recent.take().map(|object| *object)
    }

    #[test]
    fn the_oldest_comes_first_and_not_too_early() {
        static RECENT: Recent<usize> = Recent::new();
        for number in 0..REST {
            RECENT.put(Box::new(number));
            assert_eq!(take(&RECENT), None);
        }
        for number in 0..10 * PLACES {
            RECENT.put(Box::new(REST + number));
            assert_eq!(take(&RECENT), Some(number));
        }
    }

    #[test]
    fn what_finds_no_place_is_freed() {
        static RECENT: Recent<usize> = Recent::new();
        for number in 0..3 * PLACES {
            RECENT.put(Box::new(number));
        }
        let kept: Vec<_> = core::iter::from_fn(|| take(&RECENT)).collect();
        let oldest = 2 * PLACES;
        assert_eq!(kept, (oldest..oldest + PLACES - REST).collect::<Vec<_>>());
    }

    #[test]
    fn threads_get_each_object_once() {
        static RECENT: Recent<usize> = Recent::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..10_000 {
                        let mut object = RECENT.take().unwrap_or_else(|| Box::new(usize::MAX));
                        let own = thread * 10_000 + round;
                        *object = own;
                        assert_eq!(*core::hint::black_box(&object), Box::new(own));
                        RECENT.put(object);
                    }
                });
            }
        });
    }
}
