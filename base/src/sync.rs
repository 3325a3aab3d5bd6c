// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Locks and atomics of the code that is checked under every interleaving (`--cfg loom`).

#[cfg(not(loom))]
pub use crate::cell::UnsafeCell;
#[cfg(not(loom))]
pub use crate::lock::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub use core::hint::spin_loop as spin;
#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

#[cfg(loom)]
pub use loom::cell::UnsafeCell;
#[cfg(loom)]
pub use loom::sync::MutexGuard;
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
#[cfg(loom)]
pub use loom::thread::yield_now as spin;

/// loom's lock with the methods of `lock_api`: no poison.
#[cfg(loom)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Mutex<T> {
    pub fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        match self.0.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    pub fn try_lock_for(&self, _: core::time::Duration) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}
