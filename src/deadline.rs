//! The limit of internal waits. The C API knows none, so `RDMACM_SYNC_TIMEOUT_MS` in the environment
//! can set one; without it a wait takes as long as it takes.

use once_cell::sync::OnceCell;
use std::time::{Duration, Instant};

/// The limit, unless absent, zero or not a number.
pub(crate) fn limit() -> Option<Duration> {
    static LIMIT: OnceCell<Option<Duration>> = OnceCell::new();
    *LIMIT.get_or_init(|| parse(&std::env::var("RDMACM_SYNC_TIMEOUT_MS").ok()?))
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
