//! A place for a reference that many look up and one takes out.
//!
//! Looking takes no lock: it counts itself, copies the reference and leaves. Taking out clears the place
//! and waits for those few instructions of others.
//!
//! # Safety
//! The pointer is an `Arc` turned raw; it is only used while a visit to a live slot is counted, and given
//! up only after the slot is dead and no visit is left.
#![allow(unsafe_code)]

use crate::sync::{AtomicPtr, AtomicU32, Ordering, spin};
use std::sync::Arc;

const LIVE: u32 = 1 << 31;
/// After so many looks a visitor that has not left was lost in a fork.
const PATIENCE: u32 = 10_000_000;

/// See the module text. Zeroed memory is an empty one.
pub(super) struct Slot<T> {
    /// Live (one bit) and the number of visits.
    state: AtomicU32,
    value: AtomicPtr<T>,
}

impl<T> Slot<T> {
    /// Puts a reference in; only for a place that nobody else fills now.
    pub(super) fn fill(&self, value: Arc<T>) {
        // Of one that was closed behind our back something is left.
        drop(self.take());
        self.value.store(Arc::into_raw(value).cast_mut(), Ordering::Relaxed);
        self.state.fetch_or(LIVE, Ordering::Release);
    }

    pub(super) fn get(&self) -> Option<Arc<T>> {
        if self.state.load(Ordering::Relaxed) & LIVE == 0 {
            return None;
        }
        let found = if self.state.fetch_add(1, Ordering::Acquire) & LIVE != 0 {
            let value = self.value.load(Ordering::Relaxed);
            // SAFETY: the slot is live and our visit is counted, so its own reference is not given up.
            unsafe {
                Arc::increment_strong_count(value);
                Some(Arc::from_raw(value))
            }
        } else {
            None
        };
        self.state.fetch_sub(1, Ordering::Release);
        found
    }

    /// Takes the reference out; only one of several callers gets it.
    pub(super) fn take(&self) -> Option<Arc<T>> {
        if self.state.fetch_and(!LIVE, Ordering::AcqRel) & LIVE == 0 {
            return None;
        }
        let value = self.value.load(Ordering::Relaxed);
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
        Some(unsafe { Arc::from_raw(value) })
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use loom::thread;

    struct Counted(u32, Arc<std::sync::atomic::AtomicU32>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    }

    /// Two look while one takes out and puts another in: nobody gets what is gone, each is freed once.
    #[test]
    fn loom_lookups_against_a_replacement() {
        loom::model(|| {
            let freed = Arc::new(std::sync::atomic::AtomicU32::new(0));
            let slot = Arc::new(Slot {
                state: AtomicU32::new(0),
                value: AtomicPtr::new(std::ptr::null_mut()),
            });
            slot.fill(Arc::new(Counted(1, Arc::clone(&freed))));
            let readers = [(); 2].map(|()| {
                let slot = Arc::clone(&slot);
                thread::spawn(move || {
                    if let Some(found) = slot.get() {
                        assert!(matches!(found.0, 1 | 2));
                    }
                })
            });
            drop(slot.take());
            slot.fill(Arc::new(Counted(2, Arc::clone(&freed))));
            for reader in readers {
                assert!(reader.join().is_ok());
            }
            assert_eq!(freed.load(std::sync::atomic::Ordering::SeqCst), 1);
            assert_eq!(slot.take().map(|found| found.0), Some(2));
            assert_eq!(freed.load(std::sync::atomic::Ordering::SeqCst), 2);
        });
    }

    #[test]
    fn loom_of_two_takers_one_gets_it() {
        loom::model(|| {
            let slot = Arc::new(Slot {
                state: AtomicU32::new(0),
                value: AtomicPtr::new(std::ptr::null_mut()),
            });
            slot.fill(Arc::new(7_u32));
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
