//! A place for a reference that many look up and one takes out.
//!
//! Looking takes no lock: it counts itself, copies the reference and leaves. Taking out clears the place
//! and waits for those few instructions of others.
//!
//! # Safety
//! The reference is only used while a visit to a live slot is counted, and changed only while the slot is
//! dead and no visit is left.
#![allow(unsafe_code)]

use crate::counted::Counted;
use crate::sync::{AtomicU32, Ordering, UnsafeCell, spin};

const LIVE: u32 = 1 << 31;
/// After so many looks a visitor that has not left was lost in a fork.
const PATIENCE: u32 = 10_000_000;

/// See the module text. Zeroed memory is an empty one.
pub(super) struct Slot<T> {
    /// Live (one bit) and the number of visits.
    state: AtomicU32,
    value: UnsafeCell<Option<Counted<T>>>,
}

// SAFETY: references go from thread to thread, and the count says when the pointer may be touched.
unsafe impl<T: Send + Sync> Send for Slot<T> {}
// SAFETY: the same.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// Puts a reference in; only for a place that nobody else fills now.
    pub(super) fn fill(&self, value: Counted<T>) {
        // Of one that was closed behind our back something is left. Its end would close the number, which
        // is the new socket's.
        std::mem::forget(self.take());
        // SAFETY: the slot is dead, without a visit, and nobody else fills it. It is empty.
        self.value.with_mut(|place| unsafe { *place = Some(value) });
        self.state.fetch_or(LIVE, Ordering::Release);
    }

    #[inline]
    pub(super) fn get(&self) -> Option<Counted<T>> {
        if self.state.load(Ordering::Relaxed) & LIVE == 0 {
            return None;
        }
        let found = if self.state.fetch_add(1, Ordering::Acquire) & LIVE != 0 {
            // SAFETY: the slot is live and our visit is counted, so its own reference is not given up.
            self.value.with(|value| unsafe { (*value).clone() })
        } else {
            None
        };
        self.state.fetch_sub(1, Ordering::Release);
        found
    }

    /// Takes the reference out; only one of several callers gets it.
    pub(super) fn take(&self) -> Option<Counted<T>> {
        if self.state.fetch_and(!LIVE, Ordering::AcqRel) & LIVE == 0 {
            return None;
        }
        let mut looks = 0;
        while self.state.load(Ordering::Acquire) != 0 {
            looks += 1;
            if looks == PATIENCE {
                // The visitor exists no more (we are a fork's child): keep the reference for ever.
                self.state.store(0, Ordering::Release);
                return None;
            }
            spin();
        }
        // SAFETY: the slot's own reference, taken once, and nobody is looking at it.
        self.value.with_mut(|value| unsafe { (*value).take() })
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use loom::thread;

    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    fn counted<T>(value: T) -> Counted<T> {
        Counted::try_new(value).unwrap_or_else(|_| unreachable!("no memory"))
    }

    /// Says when it is gone.
    struct Tells(Arc<AtomicBool>);

    impl Drop for Tells {
        fn drop(&mut self) {
            assert!(!self.0.swap(true, Ordering::SeqCst), "freed twice");
        }
    }

    fn look(slot: &Slot<Tells>, gone: &[Arc<AtomicBool>; 2]) {
        if let Some(found) = slot.get() {
            // Of memory that is gone nothing may be touched, not even to free it again.
            let found = std::mem::ManuallyDrop::new(found);
            let which = gone.iter().find(|gone| Arc::ptr_eq(gone, &found.0));
            assert!(
                which.is_some_and(|gone| !gone.load(Ordering::SeqCst)),
                "a reference to nothing"
            );
            drop(std::mem::ManuallyDrop::into_inner(found));
        }
    }

    /// Two look while one takes out and puts another in: nobody gets what is gone, each is freed once.
    /// (A look that a taking does not wait for is an access that loom finds unordered.)
    #[test]
    fn loom_lookups_against_a_replacement() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let gone = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
            let slot = Arc::new(Slot { state: AtomicU32::new(0), value: UnsafeCell::new(None) });
            slot.fill(counted(Tells(Arc::clone(&gone[0]))));
            // Made now, so that it does not get the memory of the first.
            let second = counted(Tells(Arc::clone(&gone[1])));
            let readers = [(); 2].map(|()| {
                let (slot, gone) = (Arc::clone(&slot), gone.clone());
                thread::spawn(move || look(&slot, &gone))
            });
            drop(slot.take());
            slot.fill(second);
            for reader in readers {
                assert!(reader.join().is_ok());
            }
            assert!(gone[0].load(Ordering::SeqCst) && !gone[1].load(Ordering::SeqCst));
            drop(slot.take());
            assert!(gone[1].load(Ordering::SeqCst));
        });
    }

    #[test]
    fn loom_of_two_takers_one_gets_it() {
        loom::model(|| {
            let slot = Arc::new(Slot { state: AtomicU32::new(0), value: UnsafeCell::new(None) });
            slot.fill(counted(7_u32));
            let takers = [(); 2].map(|()| {
                let slot = Arc::clone(&slot);
                thread::spawn(move || slot.take().is_some())
            });
            let looked = slot.get().is_some();
            let got = takers.map(|taker| taker.join().unwrap_or(false));
            assert!(got[0] != got[1] && (looked || slot.get().is_none()));
        });
    }
}
