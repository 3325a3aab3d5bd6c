//! Locks and atomics of the parts that are checked under every interleaving (`--cfg loom`).

#[cfg(not(all(loom, test)))]
pub(crate) use crate::cell::UnsafeCell;
#[cfg(not(all(loom, test)))]
pub(crate) use crate::lock::{Mutex, MutexGuard};
#[cfg(not(all(loom, test)))]
pub(crate) use std::hint::spin_loop as spin;
#[cfg(not(all(loom, test)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

#[cfg(all(loom, test))]
pub(crate) use loom::cell::UnsafeCell;
#[cfg(all(loom, test))]
pub(crate) use loom::sync::MutexGuard;
#[cfg(all(loom, test))]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
#[cfg(all(loom, test))]
pub(crate) use loom::thread::yield_now as spin;

/// loom's lock with the other's manners: no poison.
#[cfg(all(loom, test))]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(all(loom, test))]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        match self.0.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}
