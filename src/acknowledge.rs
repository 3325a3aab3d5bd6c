//! Counts events that were given back, for whoever must not go before.

use crate::deadline;
use crate::error::{Errno, Result};
use crate::lock::{Condvar, Mutex};
use crate::log;
use std::time::{Duration, Instant};

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

    /// Blocks until as many events were given back as the kernel has `reported`; ETIMEDOUT where the
    /// environment limits waits.
    pub(crate) fn wait_for(&self, reported: u32, caller: &str) -> Result<()> {
        let mut count = self.count.lock();
        if missing(reported, *count) <= 0 {
            return Ok(());
        }
        let deadline = deadline::from_now();
        let mut worth_a_line = Some(Instant::now() + LONG_WAIT);
        while missing(reported, *count) > 0 {
            let Some(wake) = [deadline, worth_a_line].into_iter().flatten().min() else {
                self.one_more.wait(&mut count);
                continue;
            };
            self.one_more.wait_until(&mut count, wake);
            let now = Instant::now();
            if missing(reported, *count) > 0 && worth_a_line.is_some_and(|line| line <= now) {
                worth_a_line = None;
                log::line(format_args!(
                    "{caller} waits for {} events to be given back by rdma_ack_cm_event",
                    missing(reported, *count)
                ));
            }
            if missing(reported, *count) > 0 && deadline.is_some_and(|end| end <= now) {
                return Err(Errno::ETIMEDOUT);
            }
        }
        Ok(())
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
            assert_eq!(counter.wait_for(3, "test"), Ok(()));
        });
        assert_eq!(counter.wait_for(2, "test"), Ok(()));
    }
}
