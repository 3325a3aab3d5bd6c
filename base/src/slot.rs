// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! A slot for one reference, which many threads look up and one takes out.
//!
//! A look-up takes no lock: it counts itself, copies the reference and is over after a few
//! instructions. Taking out marks the slot empty and waits until no look-up is counted.
//!
//! # Safety
//! The reference is used only while a look-up of a live slot is counted, and changed only while the
//! slot is empty and no look-up is counted.
#![allow(unsafe_code)]

use crate::arc::Arc;
use crate::segments::Zeroed;
use crate::sync::{AtomicU32, Ordering, UnsafeCell, spin};

const LIVE: u32 = 1 << 31;
/// A look-up that is still counted after so many checks was made by a thread that a fork's child
/// does not have.
const MAX_CHECKS: u32 = 10_000_000;

/// Zeroed memory is an empty one.
pub struct Slot<T> {
    /// Whether it is live (one bit), and the number of look-ups.
    state: AtomicU32,
    value: UnsafeCell<Option<Arc<T>>>,
}

// SAFETY: references go from thread to thread; the state says when the value may be accessed.
unsafe impl<T: Send + Sync> Send for Slot<T> {}
// SAFETY: the same.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

// SAFETY: not live, no look-ups, no reference.
unsafe impl<T> Zeroed for Slot<T> {}

impl<T> Slot<T> {
    /// Puts a reference in. No other thread may fill the slot meanwhile.
    pub fn fill(&self, value: Arc<T>) {
        // A descriptor that was closed without the library's knowledge leaves its object here.
        // Dropping it would close the number, which belongs to the new object.
        core::mem::forget(self.take());
        // SAFETY: the slot is empty, no look-up is counted, and nobody else fills it.
        self.value.with_mut(|place| unsafe { *place = Some(value) });
        self.state.fetch_or(LIVE, Ordering::Release);
    }

    #[inline]
    pub fn get(&self) -> Option<Arc<T>> {
        if self.state.load(Ordering::Relaxed) & LIVE == 0 {
            return None;
        }
        let found = if self.state.fetch_add(1, Ordering::Acquire) & LIVE != 0 {
            // SAFETY: the slot is live and this look-up is counted, so the reference stays.
            self.value.with(|value| unsafe { (*value).clone() })
        } else {
            None
        };
        self.state.fetch_sub(1, Ordering::Release);
        found
    }

    /// Takes the reference out; only one of several callers gets it.
    pub fn take(&self) -> Option<Arc<T>> {
        if self.state.fetch_and(!LIVE, Ordering::AcqRel) & LIVE == 0 {
            return None;
        }
        let mut checks = 0;
        while self.state.load(Ordering::Acquire) != 0 {
            checks += 1;
            if checks == MAX_CHECKS {
                // This is a fork's child: the reference is leaked.
                self.state.store(0, Ordering::Release);
                return None;
            }
            spin();
        }
        // SAFETY: the slot's own reference, taken once, and no look-up is counted.
        self.value.with_mut(|value| unsafe { (*value).take() })
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use alloc::sync::Arc as Shared;
    use loom::thread;

    use core::sync::atomic::AtomicBool;

    fn counted<T>(value: T) -> Arc<T> {
        Arc::try_new(value).unwrap_or_else(|_| unreachable!("no memory"))
    }

    /// Records its drop.
    struct Tells(Shared<AtomicBool>);

    impl Drop for Tells {
        fn drop(&mut self) {
            assert!(!self.0.swap(true, Ordering::SeqCst), "freed twice");
        }
    }

    fn look(slot: &Slot<Tells>, gone: &[Shared<AtomicBool>; 2]) {
        if let Some(found) = slot.get() {
            // Freed memory may not be accessed, not even to free it again.
            let found = core::mem::ManuallyDrop::new(found);
            let which = gone.iter().find(|gone| Shared::ptr_eq(gone, &found.0));
            assert!(
                which.is_some_and(|gone| !gone.load(Ordering::SeqCst)),
                "a reference to freed memory"
            );
            drop(core::mem::ManuallyDrop::into_inner(found));
        }
    }

    /// Two threads look up while one takes out and fills again: nobody gets a freed reference, and
    /// each is freed once. (A look-up that `take` does not wait for is an access that loom finds
    /// unordered.)
    #[test]
    fn loom_lookups_against_a_replacement() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let gone = [(); 2].map(|()| Shared::new(AtomicBool::new(false)));
            let slot = Shared::new(Slot { state: AtomicU32::new(0), value: UnsafeCell::new(None) });
            slot.fill(counted(Tells(Shared::clone(&gone[0]))));
            // Made now, so that it does not get the memory of the first.
            let second = counted(Tells(Shared::clone(&gone[1])));
            let readers = [(); 2].map(|()| {
                let (slot, gone) = (Shared::clone(&slot), gone.clone());
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
            let slot = Shared::new(Slot { state: AtomicU32::new(0), value: UnsafeCell::new(None) });
            slot.fill(counted(7_u32));
            let takers = [(); 2].map(|()| {
                let slot = Shared::clone(&slot);
                thread::spawn(move || slot.take().is_some())
            });
            let looked = slot.get().is_some();
            let got = takers.map(|taker| taker.join().unwrap_or(false));
            assert!(got[0] != got[1] && (looked || slot.get().is_none()));
        });
    }
}
