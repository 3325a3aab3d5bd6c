//! Looking for a while before a sleep, as long as that helps.
//!
//! Completions that come within microseconds are found by looking, without the price of a sleep. Where
//! each of a thread's last waits took far longer, looking only keeps the processor from others, who may
//! have the answer to prepare: such a thread sleeps at once, until a wait is short again.

use super::config;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// A wait of so many polling times is a long one: a short one with its sleep is not.
const LONG: u32 = 3;
/// So many long waits in a row.
const ENOUGH: u8 = 8;

thread_local! {
    static LONG_WAITS: Cell<u8> = const { Cell::new(0) };
}

/// One wait.
pub(super) struct Looking {
    start: Instant,
    is_worthwhile: bool,
}

impl Looking {
    pub(super) fn start() -> Looking {
        let is_worthwhile = LONG_WAITS.get() < ENOUGH;
        Looking { start: Instant::now(), is_worthwhile }
    }

    /// Whether to look again, rather than to sleep.
    pub(super) fn again(&self) -> bool {
        let again = self.is_worthwhile && self.start.elapsed() < config::get().polling_time;
        if again {
            std::hint::spin_loop();
        }
        again
    }

    /// It was found by looking.
    pub(super) fn found(&self) {
        LONG_WAITS.set(0);
    }

    /// It was slept for.
    pub(super) fn slept(&self) {
        judge(self.start.elapsed());
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
            assert!(Looking::start().is_worthwhile);
            judge(polling_time * 10);
        }
        assert!(!Looking::start().is_worthwhile && !Looking::start().again());
        for _ in 0..1000 {
            judge(polling_time * 10);
        }
        assert!(!Looking::start().is_worthwhile);
        // With its sleep it took twice as long as the look would have.
        judge(polling_time * 2);
        assert!(Looking::start().is_worthwhile);
    }

    #[test]
    fn what_is_found_by_looking_counts() {
        (0..ENOUGH).for_each(|_| judge(config::get().polling_time * 10));
        assert!(!Looking::start().is_worthwhile);
        Looking::start().found();
        assert!(Looking::start().is_worthwhile);
    }
}
