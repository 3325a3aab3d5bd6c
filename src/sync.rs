//! Locks and atomics of the parts that are checked under every interleaving (`--cfg loom`).

#[cfg(not(all(loom, test)))]
pub(crate) use parking_lot::Mutex;
#[cfg(not(all(loom, test)))]
pub(crate) use std::hint::spin_loop as spin;
#[cfg(not(all(loom, test)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

#[cfg(all(loom, test))]
pub(crate) use loom::cell::UnsafeCell;
#[cfg(all(loom, test))]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
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

    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        match self.0.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}

/// What loom's cell has, which knows each access.
#[cfg(not(all(loom, test)))]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(all(loom, test)))]
impl<T> UnsafeCell<T> {
    pub(crate) fn with<R>(&self, then: impl FnOnce(*const T) -> R) -> R {
        then(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, then: impl FnOnce(*mut T) -> R) -> R {
        then(self.0.get())
    }
}
