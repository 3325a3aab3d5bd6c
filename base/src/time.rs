// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The monotonic clock.
//!
//! # Safety
//! clock_gettime(2) and nanosleep(2) on live values.
#![allow(unsafe_code)]

use crate::errno::preserve_errno;
use core::ops::{Add, AddAssign, Sub};
use core::time::Duration;

/// A moment of CLOCK_MONOTONIC, as std's Instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

impl Instant {
    #[must_use]
    pub fn now() -> Instant {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a live timespec; this clock always exists.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        Instant(Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32))
    }

    /// Of the clock, whose zero means nothing.
    pub(crate) fn since_zero(self) -> Duration {
        self.0
    }

    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(*self)
    }

    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_add(duration))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_sub(duration))
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

/// Suspends the thread, through signals too. errno stays as it was.
pub fn sleep(duration: Duration) {
    let mut left = timespec_of(duration);
    preserve_errno(|| {
        // SAFETY: live values; an interrupted sleep leaves what remains.
        while unsafe { libc::nanosleep(&raw const left, &raw mut left) } != 0
            && crate::errno::Errno::last() == crate::errno::Errno::EINTR
        {}
    });
}

/// As C has it; what is too long for C becomes the longest.
#[must_use]
pub fn timespec_of(duration: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(duration.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_last_as_long_as_asked() {
        let begin = Instant::now();
        sleep(Duration::from_millis(15));
        assert!(begin.elapsed() >= Duration::from_millis(15));
        assert_eq!(begin - Instant::now(), Duration::ZERO);
        assert!(begin.checked_add(Duration::MAX).is_none());
    }
}
