//! The limit of internal waits. The C API knows none, so `RDMACM_SYNC_TIMEOUT_MS` in the environment
//! can set one; without it a wait takes as long as it takes.
//!
//! # Safety
//! poll(2) on one descriptor.
#![allow(unsafe_code)]

use crate::environment;
use crate::error::{Errno, Result};
use crate::once::Once;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// The limit, unless absent, zero or not a number.
pub(crate) fn limit() -> Option<Duration> {
    static LIMIT: Once<Option<Duration>> = Once::new();
    LIMIT.get_or_init(|| environment::read(c"RDMACM_SYNC_TIMEOUT_MS", parse))
}

fn parse(value: &str) -> Option<Duration> {
    let milliseconds: u64 = value.trim().parse().ok()?;
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

/// When a wait that begins now has to end.
pub(crate) fn from_now() -> Option<Instant> {
    // A limit beyond what the clock can count is none.
    limit().and_then(|limit| Instant::now().checked_add(limit))
}

/// Waits for an event of poll(2): ETIMEDOUT once the deadline has passed, EINTR on a signal, as in a
/// call without a limit.
pub(crate) fn wait_ready(fd: RawFd, event: libc::c_short, deadline: Instant) -> Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    // Rounded up, so that poll never ends before the deadline.
    let milliseconds = left.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32;
    let mut poll = libc::pollfd { fd, events: event, revents: 0 };
    // SAFETY: one live pollfd.
    match unsafe { libc::poll(&raw mut poll, 1, milliseconds) } {
        0 => Err(Errno::ETIMEDOUT),
        count if count > 0 => Ok(()),
        _ => Err(Errno::last()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_numbers_limit() {
        assert_eq!(parse("250"), Some(Duration::from_millis(250)));
        assert_eq!(parse(" 1\n"), Some(Duration::from_millis(1)));
        for none in ["", "0", "-5", "1.5", "soon", "99999999999999999999999"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
