// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Turns of a thread, whose end others can wait for.
//!
//! # Safety
//! The word lives as long as those who sleep on it: they borrow it.
#![allow(unsafe_code)]

use crate::deadline::Deadline;
use crate::futex;
use core::sync::atomic::{AtomicU32, Ordering};

/// See the module text.
#[derive(Default)]
pub struct Turns {
    /// Odd during a turn, and higher each time.
    count: AtomicU32,
    waiters: AtomicU32,
}

impl Turns {
    /// By the thread whose turns they are.
    #[inline]
    pub fn begin(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub fn end(&self) {
        // One of the two, this thread or a waiter, sees what the other has written.
        self.count.fetch_add(1, Ordering::SeqCst);
        if self.waiters.load(Ordering::SeqCst) > 0 {
            futex::wake(self.count.as_ptr(), libc::c_int::MAX);
        }
    }

    /// Waits until the turn that is on has ended, or a little less. False where none is.
    pub fn await_end(&self, until: Deadline) -> bool {
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let count = self.count.load(Ordering::SeqCst);
        let is_on = count & 1 == 1;
        if is_on {
            // SAFETY: borrowed.
            unsafe { futex::sleep(self.count.as_ptr(), count, until) };
        }
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        is_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Instant, sleep};
    use core::sync::atomic::AtomicBool;
    use core::time::Duration;

    #[test]
    fn a_turn_is_awaited_to_its_end() {
        let turns = Turns::default();
        let never = Deadline::after(Duration::from_secs(20));
        assert!(!turns.await_end(never));
        let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                turns.begin();
                begun.store(true, Ordering::SeqCst);
                sleep(Duration::from_millis(30));
                ended.store(true, Ordering::SeqCst);
                turns.end();
            });
            while !begun.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            while turns.await_end(never) {}
            assert!(ended.load(Ordering::SeqCst));
        });
        turns.begin();
        let start = Instant::now();
        assert!(turns.await_end(Deadline::after(Duration::from_millis(10))));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
