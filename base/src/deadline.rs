// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Time limits of waits: how long a caller lets a call wait, and when that ends.
//!
//! # Safety
//! ppoll(2) on a live array.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result};
use crate::fd::RawFd;
use crate::time::{Instant, timespec_of};
use core::ptr;
use core::time::Duration;
use libc::{c_int, c_short, pollfd, timespec, timeval};

/// How long a call may wait. It begins to run when a first look has found nothing, so that a call
/// which finds something reads no clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeout(Option<Duration>);

impl Timeout {
    /// No limit.
    pub const NONE: Timeout = Timeout(None);

    /// Milliseconds as poll(2) takes them: negative means no limit.
    #[must_use]
    pub fn from_millis(milliseconds: c_int) -> Timeout {
        Timeout(u64::try_from(milliseconds).ok().map(Duration::from_millis))
    }

    /// As select(2): EINVAL for a negative time; more than a second of microseconds is carried
    /// over.
    pub fn from_timeval(time: &timeval) -> Result<Timeout> {
        let seconds = u64::try_from(time.tv_sec).map_err(|_| Errno::EINVAL)?;
        let micros = u64::try_from(time.tv_usec).map_err(|_| Errno::EINVAL)?;
        // What cannot be counted is no limit.
        Ok(Timeout(Duration::from_secs(seconds).checked_add(Duration::from_micros(micros))))
    }

    /// As ppoll(2): EINVAL for a negative time and for a second or more of nanoseconds.
    pub fn from_timespec(time: &timespec) -> Result<Timeout> {
        let seconds = u64::try_from(time.tv_sec).map_err(|_| Errno::EINVAL)?;
        match u32::try_from(time.tv_nsec) {
            Ok(nanos) if nanos < 1_000_000_000 => Ok(Duration::new(seconds, nanos).into()),
            _ => Err(Errno::EINVAL),
        }
    }

    #[must_use]
    pub fn duration(self) -> Option<Duration> {
        self.0
    }

    /// One look and no wait.
    #[inline]
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.0 == Some(Duration::ZERO)
    }

    #[must_use]
    pub fn shorter(self, other: Timeout) -> Timeout {
        match (self.0, other.0) {
            (Some(one), Some(other)) => Timeout(Some(one.min(other))),
            (one, other) => Timeout(one.or(other)),
        }
    }

    /// When a wait that begins now ends.
    #[inline]
    #[must_use]
    pub fn begin(self) -> Deadline {
        match self.0 {
            Some(Duration::ZERO) => Deadline::Now,
            Some(time) => Deadline::after(time),
            None => Deadline::Never,
        }
    }
}

impl From<Duration> for Timeout {
    fn from(time: Duration) -> Timeout {
        Timeout(Some(time))
    }
}

impl From<Option<Duration>> for Timeout {
    fn from(time: Option<Duration>) -> Timeout {
        Timeout(time)
    }
}

/// When a wait ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deadline {
    #[default]
    Never,
    /// After one look.
    Now,
    At(Instant),
}

impl Deadline {
    /// A time beyond what the clock can count never comes.
    #[inline]
    #[must_use]
    pub fn after(time: Duration) -> Deadline {
        Instant::now().checked_add(time).map_or(Deadline::Never, Deadline::At)
    }

    #[inline]
    #[must_use]
    pub fn has_passed(self) -> bool {
        match self {
            Deadline::Never => false,
            Deadline::Now => true,
            Deadline::At(time) => Instant::now() >= time,
        }
    }

    /// What is left; None for ever.
    #[inline]
    #[must_use]
    pub fn left(self) -> Option<Duration> {
        match self {
            Deadline::Never => None,
            Deadline::Now => Some(Duration::ZERO),
            Deadline::At(time) => Some(time.saturating_duration_since(Instant::now())),
        }
    }

    /// What is left as poll(2) takes it, rounded up so that it never ends before the deadline; -1
    /// for ever.
    #[must_use]
    pub fn left_millis(self) -> c_int {
        let Some(left) = self.left() else { return -1 };
        c_int::try_from(left.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX)
    }

    /// What is left as ppoll(2) takes it; None for ever.
    #[inline]
    #[must_use]
    pub fn left_timespec(self) -> Option<timespec> {
        self.left().map(timespec_of)
    }

    #[must_use]
    pub fn earlier(self, other: Deadline) -> Deadline {
        match (self, other) {
            (Deadline::Never, other) => other,
            (one, Deadline::Never) => one,
            (Deadline::At(one), Deadline::At(other)) => Deadline::At(one.min(other)),
            _ => Deadline::Now,
        }
    }
}

impl From<Option<Instant>> for Deadline {
    fn from(time: Option<Instant>) -> Deadline {
        time.map_or(Deadline::Never, Deadline::At)
    }
}

/// poll(2) until a deadline that does not move, however often it is called: 0 when it has passed,
/// EINTR on a signal.
#[inline]
pub fn poll_until(fds: &mut [pollfd], deadline: Deadline) -> Result<usize> {
    let left = deadline.left_timespec();
    let left = left.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: a live array, live or no time, no signal mask.
    let ready =
        unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, left, ptr::null()) };
    usize::try_from(ready).map_err(|_| Errno::last())
}

/// Waits for an event of one descriptor: ETIMEDOUT once the deadline has passed, EINTR on a signal.
pub fn wait_ready(fd: RawFd, events: c_short, deadline: Deadline) -> Result<()> {
    match poll_until(&mut [pollfd { fd, events, revents: 0 }], deadline)? {
        0 => Err(Errno::ETIMEDOUT),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_do_not_move() {
        let begin = Instant::now();
        let deadline = Timeout::from_millis(60).begin();
        let mut rounds = 0;
        while !deadline.has_passed() {
            let mut fds = [pollfd { fd: -1, events: 0, revents: 0 }];
            let step = deadline.earlier(Deadline::after(Duration::from_millis(2)));
            assert_eq!(poll_until(&mut fds, step), Ok(0));
            rounds += 1;
        }
        assert!(rounds > 2 && begin.elapsed() >= Duration::from_millis(60));
    }

    #[test]
    fn timeouts_begin_when_they_are_asked_for() {
        assert_eq!(Timeout::from_millis(-1).begin(), Deadline::Never);
        assert_eq!(Timeout::from_millis(0).begin(), Deadline::Now);
        assert_eq!(Timeout::from(Duration::MAX).begin(), Deadline::Never);
        assert_eq!(Timeout::NONE, Timeout::default());
        let Deadline::At(end) = Timeout::from_millis(500).begin() else { unreachable!() };
        assert!(end > Instant::now() && end <= Instant::now() + Duration::from_millis(500));
    }

    #[test]
    fn times_of_c_are_read_as_the_kernel_reads_them() {
        let of_select = |tv_sec, tv_usec| Timeout::from_timeval(&timeval { tv_sec, tv_usec });
        assert_eq!(of_select(1, 2_500_000), Ok(Duration::from_millis(3500).into()));
        assert_eq!(of_select(0, 0), Ok(Duration::ZERO.into()));
        assert_eq!(of_select(-1, 0), Err(Errno::EINVAL));
        assert_eq!(of_select(0, -1), Err(Errno::EINVAL));
        assert!(of_select(i64::MAX, i64::MAX).is_ok_and(|longest| !longest.begin().has_passed()));
        let of_poll = |tv_sec, tv_nsec| Timeout::from_timespec(&timespec { tv_sec, tv_nsec });
        assert_eq!(of_poll(1, 999_999_999), Ok(Duration::new(1, 999_999_999).into()));
        for (tv_sec, tv_nsec) in [(-1, 0), (0, -1), (0, 1_000_000_000), (0, i64::MAX)] {
            assert_eq!(of_poll(tv_sec, tv_nsec), Err(Errno::EINVAL));
        }
    }

    #[test]
    fn what_is_left_is_never_too_short() {
        let deadline = Deadline::after(Duration::from_micros(10_900));
        let (before, left) = (Instant::now(), deadline.left_millis());
        assert!((1..=11).contains(&left));
        assert!(
            Deadline::At(before + Duration::from_millis(left as u64)).earlier(deadline) == deadline
        );
        assert_eq!(Deadline::Never.left_millis(), -1);
        assert_eq!(Deadline::Now.left_millis(), 0);
        assert_eq!(Deadline::At(Instant::now() + Duration::MAX).left_millis(), c_int::MAX);
        assert!(Deadline::Never.left_timespec().is_none());
    }

    #[test]
    fn the_earlier_of_two() {
        let (soon, late) = (Deadline::after(Duration::ZERO), Deadline::after(Duration::MAX / 4));
        for (one, other, earlier) in [
            (Deadline::Never, late, late),
            (soon, late, soon),
            (Deadline::Now, soon, Deadline::Now),
            (Deadline::Never, Deadline::Never, Deadline::Never),
        ] {
            assert_eq!(one.earlier(other), earlier);
            assert_eq!(other.earlier(one), earlier);
        }
        let (short, long) = (Timeout::from_millis(1), Timeout::from_millis(2));
        assert_eq!(short.shorter(long).shorter(Timeout::NONE), short);
    }

    #[test]
    fn one_descriptor_is_waited_for() {
        let mut ends = [-1; 2];
        // SAFETY: a place for two descriptors; a live byte.
        unsafe {
            assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
            let timeout = Timeout::from_millis(5).begin();
            assert_eq!(wait_ready(ends[0], libc::POLLIN, timeout), Err(Errno::ETIMEDOUT));
            assert_eq!(libc::write(ends[1], [1_u8].as_ptr().cast(), 1), 1);
            assert_eq!(wait_ready(ends[0], libc::POLLIN, Deadline::Never), Ok(()));
            libc::close(ends[0]);
            libc::close(ends[1]);
        }
    }
}
