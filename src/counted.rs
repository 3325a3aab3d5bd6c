//! Values with several owners: std's Arc and Weak, but ENOMEM when memory is at its end.
//!
//! # Safety
//! The value lives as long as it has owners: each `Counted` is one. Its memory, a box, lives as long as it
//! has holders: each `Weak` is one, and all owners together are one.
#![allow(unsafe_code)]

use crate::error::Result;
use crate::memory::try_box;
use crate::sync::{AtomicUsize, Ordering};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::ptr::NonNull;

/// An owner. A null pointer is none: `Option` has the size of a pointer, and zeroed memory is `None`.
#[repr(transparent)]
pub(crate) struct Counted<T> {
    inner: NonNull<Inner<T>>,
    owned: PhantomData<Inner<T>>,
}

/// Finds the value as long as it has owners.
pub(crate) struct Weak<T>(NonNull<Inner<T>>);

struct Inner<T> {
    owners: AtomicUsize,
    holders: AtomicUsize,
    value: ManuallyDrop<T>,
}

// SAFETY: as Arc: owners in any thread share the value, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Counted<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Counted<T> {}
// SAFETY: it can become an owner in any thread.
unsafe impl<T: Send + Sync> Send for Weak<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Weak<T> {}

impl<T> Counted<T> {
    pub(crate) fn try_new(value: T) -> Result<Counted<T>> {
        // The memory first: without it the value is dropped here.
        let room = try_box(MaybeUninit::uninit())?;
        let (owners, holders) = (AtomicUsize::new(1), AtomicUsize::new(1));
        let inner =
            Box::leak(room).write(Inner { owners, holders, value: ManuallyDrop::new(value) });
        Ok(Counted { inner: NonNull::from(inner), owned: PhantomData })
    }

    /// Whether both stand for one value.
    pub(crate) fn is_same(one: &Counted<T>, other: &Counted<T>) -> bool {
        one.inner == other.inner
    }

    /// Their number, which other threads may be changing.
    pub(crate) fn owners(one: &Counted<T>) -> usize {
        one.inner().owners.load(Ordering::Acquire)
    }

    pub(crate) fn downgrade(one: &Counted<T>) -> Weak<T> {
        one.inner().holders.fetch_add(1, Ordering::Relaxed);
        Weak(one.inner)
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: an owner, so it lives.
        unsafe { self.inner.as_ref() }
    }
}

impl<T> Clone for Counted<T> {
    #[inline]
    fn clone(&self) -> Counted<T> {
        // Each owner is a place in memory: they cannot become more than the count can hold.
        self.inner().owners.fetch_add(1, Ordering::Relaxed);
        Counted { inner: self.inner, owned: PhantomData }
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner().value
    }
}

impl<T> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        // What the others did with the value comes before its end.
        if self.inner().owners.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: this was its last owner; the memory has a holder, the owners' own.
            unsafe {
                ManuallyDrop::drop(&mut (*self.inner.as_ptr()).value);
                release(self.inner);
            }
        }
    }
}

impl<T> Weak<T> {
    pub(crate) fn upgrade(&self) -> Option<Counted<T>> {
        // SAFETY: a holder, so the memory is there.
        let owners = unsafe { &(*self.0.as_ptr()).owners };
        let one_more = |count: usize| (count > 0).then(|| count + 1);
        owners.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).ok()?;
        Some(Counted { inner: self.0, owned: PhantomData })
    }

    /// Whether it has owners, now. (Only the preload library asks.)
    #[allow(dead_code)]
    pub(crate) fn is_alive(&self) -> bool {
        // SAFETY: a holder, so the memory is there.
        unsafe { &(*self.0.as_ptr()).owners }.load(Ordering::Relaxed) > 0
    }

    /// Whether it is this value that it finds. (Memory that has a holder is no other value's.)
    pub(crate) fn is_of(&self, value: &Counted<T>) -> bool {
        self.0 == value.inner
    }
}

impl<T> Clone for Weak<T> {
    fn clone(&self) -> Weak<T> {
        // SAFETY: a holder, so the memory is there.
        unsafe { &(*self.0.as_ptr()).holders }.fetch_add(1, Ordering::Relaxed);
        Weak(self.0)
    }
}

impl<T> Drop for Weak<T> {
    fn drop(&mut self) {
        // SAFETY: a holder, which ends.
        unsafe { release(self.0) };
    }
}

/// Ends a holder.
///
/// # Safety
/// The caller is one, and uses the memory no more.
unsafe fn release<T>(inner: NonNull<Inner<T>>) {
    // SAFETY: there is a holder.
    let holders = unsafe { &(*inner.as_ptr()).holders };
    // Nobody can become one beside a sole holder, so that this saves most a locked instruction.
    if holders.load(Ordering::Acquire) == 1 || holders.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: from a box, and this was its last holder; the value has been dropped.
        drop(unsafe { Box::from_raw(inner.as_ptr()) });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    struct Tells<'a>(&'a AtomicUsize);

    impl Drop for Tells<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_last_owner_drops_the_value() {
        let dropped = AtomicUsize::new(0);
        let Ok(first) = Counted::try_new(Tells(&dropped)) else { return };
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
        let (Ok(first), Ok(other)) =
            (Counted::try_new(Tells(&dropped)), Counted::try_new(Tells(&dropped)))
        else {
            return;
        };
        let weak = Counted::downgrade(&first);
        assert!(weak.is_of(&first) && !weak.is_of(&other));
        let second = weak.upgrade();
        assert_eq!(Counted::owners(&first), 2);
        drop(first);
        assert!(weak.clone().is_alive());
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        drop(second);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        assert!(!weak.is_alive() && weak.upgrade().is_none());
    }

    #[test]
    fn zeroed_memory_is_none() {
        // SAFETY: the claim under test.
        let none: Option<Counted<u8>> = unsafe { std::mem::zeroed() };
        assert!(none.is_none());
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use loom::thread;

    /// Dropped under loom's eyes: an access that is not ordered with the drop is found.
    struct Watched(loom::cell::UnsafeCell<bool>);

    impl Watched {
        fn is_there(&self) -> bool {
            // SAFETY: only its drop writes.
            self.0.with(|value| unsafe { *value })
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            // SAFETY: an owner of its own.
            self.0.with_mut(|value| unsafe { *value = false });
        }
    }

    #[test]
    fn loom_an_upgrade_against_the_last_owner() {
        loom::model(|| {
            let Ok(only) = Counted::try_new(Watched(loom::cell::UnsafeCell::new(true))) else {
                return;
            };
            let weak = Counted::downgrade(&only);
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
