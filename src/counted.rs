//! A value with several owners: std's Arc, but ENOMEM when memory is at its end.
//!
//! # Safety
//! The value lives in a box as long as its count is not zero; each `Counted` stands for one of the count.
#![allow(unsafe_code)]

use crate::error::Result;
use crate::memory::try_box;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct Counted<T> {
    inner: NonNull<Inner<T>>,
    owned: PhantomData<Inner<T>>,
}

struct Inner<T> {
    owners: AtomicUsize,
    value: T,
}

// SAFETY: as Arc: owners in any thread share the value, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Counted<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Counted<T> {}

impl<T> Counted<T> {
    pub(crate) fn try_new(value: T) -> Result<Counted<T>> {
        let inner = try_box(Inner { owners: AtomicUsize::new(1), value })?;
        Ok(Counted { inner: NonNull::from(Box::leak(inner)), owned: PhantomData })
    }

    /// Whether both stand for one value.
    pub(crate) fn is_same(one: &Counted<T>, other: &Counted<T>) -> bool {
        one.inner == other.inner
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: counted, so it lives.
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
            // SAFETY: from a box, and this was its last owner.
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_owner_drops_the_value() {
        struct Tells<'a>(&'a AtomicUsize);
        impl Drop for Tells<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
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
}
