//! A client of ibacm, the daemon that knows paths through an InfiniBand fabric.
//!
//! The daemon is an extra: where it is absent, slow or talks nonsense, everything goes on as without
//! it. `RDMACM_IBACM_TIMEOUT_MS` limits what one question may take (2000 by default, 0 never asks). No
//! lock is held meanwhile. A daemon that is absent or silent is left alone for some seconds.

mod connection;
mod message;

#[cfg(any(test, fuzzing))]
pub use message::fuzz_acm_reply;
pub(crate) use message::{PathRecord, Question, Reply};

use crate::deadline;
use crate::environment;
use crate::error::Errno;
use crate::log;
use crate::once::Once;
use connection::Connection;
use message::{MAX_MESSAGE, Request, parse_reply};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const DEFAULT_LIMIT: Duration = Duration::from_secs(2);

/// How long nobody is asked after the daemon was not there or did not answer in time.
const REST_MS: u64 = 5000;

/// When to ask again, on the clock of `milliseconds`.
static RESTS_UNTIL: AtomicU64 = AtomicU64::new(0);

/// What the daemon says, if it says anything of use within `limit`.
pub(crate) fn ask(question: &Question<'_>, limit: Option<Duration>) -> Option<Reply> {
    let limit = [limit, own_limit(), deadline::limit()].into_iter().flatten().min()?;
    if limit.is_zero() || milliseconds() < RESTS_UNTIL.load(Ordering::Relaxed) {
        return None;
    }
    let transaction = next_transaction();
    let request = Request::new(question, transaction);
    if request.is_empty() {
        return None;
    }
    let deadline = Instant::now().checked_add(limit)?;
    let connection = Connection::open(deadline).inspect_err(|_| rest()).ok()?;
    let mut bytes = [0; MAX_MESSAGE];
    match connection.exchange(request.bytes(), &mut bytes, deadline) {
        Ok(length) => {
            parse_reply(&bytes[..length]).filter(|reply| reply.transaction == transaction)
        }
        Err(error) => {
            log::line(format_args!("ibacm gave no answer: {error}"));
            if error == Errno::ETIMEDOUT {
                rest();
            }
            None
        }
    }
}

fn rest() {
    RESTS_UNTIL.store(milliseconds().saturating_add(REST_MS), Ordering::Relaxed);
}

/// Since the first question.
fn milliseconds() -> u64 {
    static FIRST: Once<Instant> = Once::new();
    let elapsed = FIRST.get_or_init(Instant::now).elapsed();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// Tells the questions of this process and of others apart.
fn next_transaction() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    (u64::from(std::process::id()) << 32) | (NEXT.fetch_add(1, Ordering::Relaxed) & 0xFFFF_FFFF)
}

fn own_limit() -> Option<Duration> {
    static LIMIT: Once<Duration> = Once::new();
    Some(LIMIT.get_or_init(|| {
        environment::read(c"RDMACM_IBACM_TIMEOUT_MS", parse_limit).unwrap_or(DEFAULT_LIMIT)
    }))
}

fn parse_limit(value: &str) -> Option<Duration> {
    value.trim().parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_a_number_of_milliseconds() {
        assert_eq!(parse_limit(" 250\n"), Some(Duration::from_millis(250)));
        assert_eq!(parse_limit("0"), Some(Duration::ZERO));
        for none in ["", "-1", "1.5", "soon"] {
            assert_eq!(parse_limit(none), None);
        }
    }

    #[test]
    fn transactions_differ() {
        assert_ne!(next_transaction(), next_transaction());
    }
}
