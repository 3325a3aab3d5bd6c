// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Busy polling before a sleep, as long as that pays.
//!
//! Completions that come within microseconds are found by polling, without the price of a sleep.
//! Where each of a thread's last waits took far longer, polling only takes the processor from
//! others, who may have the answer to prepare: such a thread skips busy polling until a wait is
//! short again.

use crate::rsocket::config;
use base::per_thread::ThreadNumber;
use base::time::Instant;
use core::time::Duration;

/// A wait of so many polling times is a long one: a short one with its sleep is not.
const LONG: u32 = 3;
/// So many long waits in a row.
const ENOUGH: usize = 8;

static LONG_WAITS: ThreadNumber = ThreadNumber::new();

/// The busy polling of one wait.
pub(crate) struct BusyPoll {
    begin: Instant,
    is_worthwhile: bool,
}

impl BusyPoll {
    pub(crate) fn start() -> BusyPoll {
        let is_worthwhile = LONG_WAITS.get() < ENOUGH;
        BusyPoll { begin: Instant::now(), is_worthwhile }
    }

    /// When the wait began.
    pub(crate) fn begin(&self) -> Instant {
        self.begin
    }

    /// Whether to poll once more, rather than to sleep.
    pub(crate) fn goes_on(&self) -> bool {
        let goes_on = self.is_worthwhile && self.begin.elapsed() < config::get().polling_time;
        if goes_on {
            core::hint::spin_loop();
        }
        goes_on
    }

    /// Polling has ended the wait.
    pub(crate) fn found(&self) {
        LONG_WAITS.set(0);
    }

    /// The wait has ended after a sleep.
    pub(crate) fn slept(&self) {
        judge(self.begin.elapsed());
    }
}

fn judge(took: Duration) {
    let is_long = took > config::get().polling_time * LONG;
    LONG_WAITS.set(if is_long { LONG_WAITS.get().saturating_add(1) } else { 0 });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_waits_end_it_and_a_short_one_begins_it_again() {
        let polling_time = config::get().polling_time;
        for _ in 0..ENOUGH {
            assert!(BusyPoll::start().is_worthwhile);
            judge(polling_time * 10);
        }
        assert!(!BusyPoll::start().is_worthwhile && !BusyPoll::start().goes_on());
        for _ in 0..1000 {
            judge(polling_time * 10);
        }
        assert!(!BusyPoll::start().is_worthwhile);
        // With its sleep it took twice as long as polling would have.
        judge(polling_time * 2);
        assert!(BusyPoll::start().is_worthwhile);
    }

    #[test]
    fn what_polling_finds_counts() {
        (0..ENOUGH).for_each(|_| judge(config::get().polling_time * 10));
        assert!(!BusyPoll::start().is_worthwhile);
        BusyPoll::start().found();
        assert!(BusyPoll::start().is_worthwhile);
    }
}
