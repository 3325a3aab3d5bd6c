// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! How many of something there are now. What a fork's parent has is not the child's, nor is what the
//! process has lost with its descriptors: its end is counted nowhere.

use super::layout::{Gauge, Total};
use super::page::{count, epoch};
use core::sync::atomic::{AtomicU32, Ordering};

/// Part of an object that is counted from `begin` until its end.
#[derive(Debug)]
pub struct Live {
    gauge: Gauge,
    /// When it was counted; zero: it is not.
    epoch: AtomicU32,
}

impl Live {
    #[must_use]
    pub const fn of(gauge: Gauge) -> Live {
        Live { gauge, epoch: AtomicU32::new(0) }
    }

    /// One more now, and in all.
    #[inline]
    pub fn begin(&self, total: Total) {
        count(|words| {
            self.epoch.store(epoch(), Ordering::Relaxed);
            words.rise(self.gauge, 1);
            words.add(total, 1);
        });
    }

    /// It is gone; the end of the object says so, too.
    #[inline]
    pub fn end(&self) {
        count(|words| {
            if self.epoch.swap(0, Ordering::Relaxed) == epoch() {
                words.fall(self.gauge, 1);
            }
        });
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end();
    }
}
