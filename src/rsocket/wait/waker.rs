// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Descriptors that wake threads.
//!
//! A completion event can be taken by any thread, so a thread that sleeps on the event's descriptor
//! alone could miss it. Each sleeper therefore also has a descriptor of its own, and whoever takes
//! an event or changes a socket wakes the others through theirs.

use alloc::vec::Vec;
use base::arc::Arc;
use base::errno::Result;
use base::eventfd::EventFd;
use base::fd::RawFd;
use base::lock::Mutex;
use base::memory::try_push;
use base::per_process::PerProcess;
use base::witness;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

/// Wakes one thread.
pub(crate) struct Waker {
    event: EventFd,
    /// It was woken since it was borrowed.
    was_woken: AtomicBool,
}

impl Waker {
    fn new() -> Result<Waker> {
        Ok(Waker { event: EventFd::new()?, was_woken: AtomicBool::new(false) })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }

    /// Takes all wake-ups that wait.
    pub(crate) fn clear(&self) {
        // One that comes in between is a wake-up for nothing later.
        self.was_woken.store(false, Ordering::Release);
        self.event.clear();
    }

    pub(crate) fn wake(&self) {
        self.was_woken.store(true, Ordering::Release);
        // What the program has closed may be another file by now.
        if witness::is_intact() {
            self.event.notify();
        }
    }
}

/// Wakers between two uses.
static POOL: PerProcess<Mutex<Vec<Arc<Waker>>>> = PerProcess::new();
const POOLED: usize = 16;
/// A signal handler may interrupt whoever has the lock.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1);

/// A waker for as long as one wait.
pub(crate) struct Borrowed(Arc<Waker>);

impl Borrowed {
    pub(crate) fn take() -> Result<Borrowed> {
        let pooled = POOL.get().and_then(|pool| pool.try_lock_for(LOCK_TIMEOUT)?.pop());
        match pooled {
            Some(waker) => Ok(Borrowed(waker)),
            None => Ok(Borrowed(Arc::try_new(Waker::new()?)?)),
        }
    }

    pub(crate) fn waker(&self) -> &Arc<Waker> {
        &self.0
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // Whoever still holds it could wake its next user: only a sole owner gives it back.
        if Arc::strong_count(&self.0) != 1 {
            return;
        }
        // Most waits end by what they wait for: there is nothing to take, and no system call for
        // it.
        if self.0.was_woken.swap(false, Ordering::AcqRel) {
            self.0.clear();
        }
        // Without memory it ends here.
        let Ok(pool) = POOL.get_or_try_init(|| Ok(Mutex::default())) else { return };
        if let Some(mut pool) = pool.try_lock_for(LOCK_TIMEOUT) {
            if pool.len() < POOLED {
                let _ = try_push(&mut pool, Arc::clone(&self.0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waker_that_is_still_held_is_not_reused() {
        let Ok(borrowed) = Borrowed::take() else { return };
        let held = Arc::clone(borrowed.waker());
        drop(borrowed);
        let Ok(next) = Borrowed::take() else { return };
        assert!(!Arc::ptr_eq(&held, next.waker()));
    }
}
