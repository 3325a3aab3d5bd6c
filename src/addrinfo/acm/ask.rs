// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! One question to ibacm, with its limits.
//!
//! The daemon is optional: one that is absent, slow or answers garbage is as good as none.
//! `RDMACM_IBACM_TIMEOUT_MS` limits what one question may take (2000 by default, 0 never asks). No
//! lock is held meanwhile. After a failed connection or a timeout no question is sent for some
//! seconds.

use super::connection::Connection;
use super::message::{AcmReply, AcmRequest, MAX_MESSAGE, PathQuestion, parse_reply};
use base::because;
use base::deadline::Timeout;
use base::errno::Errno;
use base::once::Once;
use base::settings;
use base::time::Instant;
use base::variable;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long no question is sent after a failed connection or a timeout.
const PAUSE_MS: u64 = 5000;

/// When to ask again, on the clock of `milliseconds`.
static PAUSED_UNTIL: AtomicU64 = AtomicU64::new(0);

/// The daemon's reply, if there is a usable one in time.
pub(crate) fn ask(question: &PathQuestion<'_>, timeout: Timeout) -> Option<AcmReply> {
    let timeout = timeout.shorter(own_timeout());
    if timeout.is_zero() || milliseconds() < PAUSED_UNTIL.load(Ordering::Relaxed) {
        return None;
    }
    let transaction = next_transaction();
    let request = AcmRequest::new(question, transaction);
    if request.is_empty() {
        return None;
    }
    let deadline = timeout.begin();
    let connection = Connection::open(deadline).inspect_err(|_| pause()).ok()?;
    let mut bytes = [0; MAX_MESSAGE];
    match connection.exchange(request.bytes(), &mut bytes, deadline) {
        Ok(length) => {
            parse_reply(&bytes[..length]).filter(|reply| reply.transaction == transaction)
        }
        Err(error) => {
            because!(error, "ibacm gave no answer: start it, or RDMACM_IBACM_TIMEOUT_MS=0");
            if error == Errno::ETIMEDOUT {
                pause();
            }
            None
        }
    }
}

fn pause() {
    PAUSED_UNTIL.store(milliseconds().saturating_add(PAUSE_MS), Ordering::Relaxed);
}

/// The clock of `PAUSED_UNTIL`, from the first question on.
fn milliseconds() -> u64 {
    static FIRST: Once<Instant> = Once::new();
    let elapsed = FIRST.get_or_init(Instant::now).elapsed();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// A number that no other question has, of this process or another.
fn next_transaction() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    (u64::from(base::fork::process_id()) << 32)
        | (NEXT.fetch_add(1, Ordering::Relaxed) & 0xFFFF_FFFF)
}

fn own_timeout() -> Timeout {
    static TIMEOUT: Once<Duration> = Once::new();
    let read = || {
        variable::number(settings::IBACM_TIMEOUT.name, |limit| Some(Duration::from_millis(limit)))
    };
    TIMEOUT.get_or_init(|| read().unwrap_or(DEFAULT_TIMEOUT)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_differ() {
        assert_ne!(next_transaction(), next_transaction());
    }
}
