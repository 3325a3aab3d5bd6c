// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! std's Arc and Weak, but ENOMEM when memory is at its end.
//!
//! # Safety
//! The value lives as long as its strong count: each `Arc` counts one. Its memory, a box, lives as
//! long as its weak count: each `Weak` counts one, and all `Arc`s together count one.
#![allow(unsafe_code)]

use crate::errno::Result;
use crate::memory::try_box;
use crate::sync::{AtomicUsize, Ordering};
use alloc::boxed::Box;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, offset_of};
use core::ops::Deref;
use core::ptr::NonNull;

/// As std's. `Option` has the size of a pointer, and zeroed memory is `None`.
#[repr(transparent)]
pub struct Arc<T> {
    inner: NonNull<Inner<T>>,
    owned: PhantomData<Inner<T>>,
}

/// As std's.
pub struct Weak<T>(NonNull<Inner<T>>);

struct Inner<T> {
    strong: AtomicUsize,
    weak: AtomicUsize,
    value: ManuallyDrop<T>,
}

// SAFETY: Arcs in any thread share the value, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Arc<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Arc<T> {}
// SAFETY: it can become an Arc in any thread.
unsafe impl<T: Send + Sync> Send for Weak<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Weak<T> {}

impl<T> Arc<T> {
    /// ENOMEM instead of an end of the process.
    pub fn try_new(value: T) -> Result<Arc<T>> {
        // The memory first: without it the value is dropped here.
        let room = try_box(MaybeUninit::uninit())?;
        let (strong, weak) = (AtomicUsize::new(1), AtomicUsize::new(1));
        let inner = Box::leak(room).write(Inner { strong, weak, value: ManuallyDrop::new(value) });
        Ok(Arc { inner: NonNull::from(inner), owned: PhantomData })
    }

    #[must_use]
    pub fn ptr_eq(one: &Arc<T>, other: &Arc<T>) -> bool {
        one.inner == other.inner
    }

    #[must_use]
    pub fn as_ptr(one: &Arc<T>) -> *const T {
        &raw const **one
    }

    /// Gives it away as the address of the value.
    #[must_use]
    pub fn into_raw(one: Arc<T>) -> *const T {
        let inner = ManuallyDrop::new(one).inner.as_ptr();
        // SAFETY: it is counted, so the memory is there.
        unsafe { (&raw const (*inner).value).cast() }
    }

    /// # Safety
    /// `value` is from `into_raw`, and the count that was given away is the new one's. It may be made
    /// more than once where all but one are never dropped.
    #[must_use]
    pub unsafe fn from_raw(value: *const T) -> Arc<T> {
        let inner = value.wrapping_byte_sub(offset_of!(Inner<T>, value)).cast_mut().cast();
        // SAFETY: by contract it is inside of such a box.
        Arc { inner: unsafe { NonNull::new_unchecked(inner) }, owned: PhantomData }
    }

    /// Other threads may be changing it.
    #[must_use]
    pub fn strong_count(one: &Arc<T>) -> usize {
        one.inner().strong.load(Ordering::Acquire)
    }

    #[must_use]
    pub fn downgrade(one: &Arc<T>) -> Weak<T> {
        one.inner().weak.fetch_add(1, Ordering::Relaxed);
        Weak(one.inner)
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: it is counted.
        unsafe { self.inner.as_ref() }
    }
}

impl<T> Clone for Arc<T> {
    #[inline]
    fn clone(&self) -> Arc<T> {
        // Each Arc is a place in memory: they cannot become more than the count can hold.
        self.inner().strong.fetch_add(1, Ordering::Relaxed);
        Arc { inner: self.inner, owned: PhantomData }
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner().value
    }
}

impl<T> Drop for Arc<T> {
    #[inline]
    fn drop(&mut self) {
        // What the others did with the value comes before its end.
        if self.inner().strong.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: this was the last one; the memory has the weak count of all Arcs.
            unsafe {
                ManuallyDrop::drop(&mut (*self.inner.as_ptr()).value);
                release(self.inner);
            }
        }
    }
}

impl<T> Weak<T> {
    /// The counts, not the value, which may be gone.
    fn counts(&self) -> (&AtomicUsize, &AtomicUsize) {
        // SAFETY: it is counted, so the memory is there.
        unsafe { (&(*self.0.as_ptr()).strong, &(*self.0.as_ptr()).weak) }
    }

    #[must_use]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let one_more = |count: usize| (count > 0).then(|| count + 1);
        self.counts().0.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).ok()?;
        Some(Arc { inner: self.0, owned: PhantomData })
    }

    /// Other threads may be changing it.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.counts().0.load(Ordering::Relaxed)
    }

    /// Not to be followed where there is no Arc. While this lives it is no other value's address.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        // SAFETY: the memory is there.
        unsafe { (&raw const (*self.0.as_ptr()).value).cast() }
    }
}

impl<T> Clone for Weak<T> {
    fn clone(&self) -> Weak<T> {
        self.counts().1.fetch_add(1, Ordering::Relaxed);
        Weak(self.0)
    }
}

impl<T> Drop for Weak<T> {
    fn drop(&mut self) {
        // SAFETY: it is counted, and ends.
        unsafe { release(self.0) };
    }
}

/// Takes one from the weak count.
///
/// # Safety
/// It is the caller's, who uses the memory no more.
unsafe fn release<T>(inner: NonNull<Inner<T>>) {
    // SAFETY: the caller's count.
    let weak = unsafe { &(*inner.as_ptr()).weak };
    // Nobody can be added beside a sole one: this saves most a locked instruction.
    if weak.load(Ordering::Acquire) == 1 || weak.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: from a box, and this was the last one; the value has been dropped.
        drop(unsafe { Box::from_raw(inner.as_ptr()) });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;

    struct Tells<'a>(&'a AtomicUsize);

    impl Drop for Tells<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_last_arc_drops_the_value() {
        let dropped = AtomicUsize::new(0);
        let Ok(first) = Arc::try_new(Tells(&dropped)) else { return };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let mine = first.clone();
                scope.spawn(move || {
                    for _ in 0..1000 {
                        drop(mine.clone());
                    }
                });
            }
        });
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        drop(first);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_weak_one_finds_the_value_until_its_end() {
        let dropped = AtomicUsize::new(0);
        let (Ok(first), Ok(other)) = (Arc::try_new(Tells(&dropped)), Arc::try_new(Tells(&dropped)))
        else {
            return;
        };
        let weak = Arc::downgrade(&first);
        assert_eq!(weak.as_ptr(), Arc::as_ptr(&first));
        assert_ne!(weak.as_ptr(), Arc::as_ptr(&other));
        let second = weak.upgrade();
        assert_eq!(Arc::strong_count(&first), 2);
        drop(first);
        assert_eq!(weak.clone().strong_count(), 1);
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        drop(second);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        assert!(weak.strong_count() == 0 && weak.upgrade().is_none());
    }

    #[test]
    fn zeroed_memory_is_none() {
        // SAFETY: the claim under test.
        let none: Option<Arc<u8>> = unsafe { core::mem::zeroed() };
        assert!(none.is_none());
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use loom::thread;

    /// Dropped where loom sees it: an access that is not ordered with the drop is found.
    struct Watched(loom::cell::UnsafeCell<bool>);

    impl Watched {
        fn is_there(&self) -> bool {
            // SAFETY: only its drop writes.
            self.0.with(|value| unsafe { *value })
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            // SAFETY: an Arc of its own.
            self.0.with_mut(|value| unsafe { *value = false });
        }
    }

    #[test]
    fn loom_an_upgrade_against_the_last_arc() {
        loom::model(|| {
            let Ok(only) = Arc::try_new(Watched(loom::cell::UnsafeCell::new(true))) else {
                return;
            };
            let weak = Arc::downgrade(&only);
            let finder = thread::spawn(move || {
                if let Some(found) = weak.upgrade() {
                    assert!(found.is_there());
                }
            });
            drop(only);
            assert!(finder.join().is_ok());
        });
    }
}
