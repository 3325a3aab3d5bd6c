//! Counts events that were given back, for whoever must not go before.

use crate::log;
use parking_lot::{Condvar, Mutex};
use std::fmt::Display;
use std::time::Duration;

/// When waiting for the application is worth a line in the log.
const LONG_WAIT: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct Acknowledgements {
    count: Mutex<u32>,
    one_more: Condvar,
}

impl Acknowledgements {
    pub(crate) fn add(&self) {
        let mut count = self.count.lock();
        *count = count.wrapping_add(1);
        self.one_more.notify_all();
    }

    /// Blocks until as many events were given back as the kernel has `reported`.
    pub(crate) fn wait_for(&self, reported: u32, of: &dyn Display) {
        let mut count = self.count.lock();
        let mut told = false;
        while missing(reported, *count) > 0 {
            let timed_out = self.one_more.wait_for(&mut count, LONG_WAIT).timed_out();
            if timed_out && !told {
                told = true;
                log::line(format_args!(
                    "{of} waits for {} events to be given back by rdma_ack_cm_event",
                    missing(reported, *count)
                ));
            }
        }
    }
}

/// Both numbers wrap; what was given back may run ahead of an older report.
fn missing(reported: u32, count: u32) -> i32 {
    reported.wrapping_sub(count) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_wrap() {
        assert_eq!(missing(5, 3), 2);
        assert_eq!(missing(3, 5), -2);
        assert_eq!(missing(1, u32::MAX), 2);
    }

    #[test]
    fn waiter_returns_when_all_are_back() {
        let counter = Acknowledgements::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..3 {
                    counter.add();
                }
            });
            counter.wait_for(3, &"test");
        });
        counter.wait_for(2, &"test");
    }
}
