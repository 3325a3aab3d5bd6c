// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Counts acknowledged events, for those who wait until all reported ones are.

use crate::cm::sync_timeout::sync_timeout;
use base::deadline::Deadline;
use base::errno::Result;
use base::lock::{Condvar, Mutex};
use base::{fail, log};
use core::time::Duration;

/// A wait for the application that is logged.
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

    /// Blocks until as many events are acknowledged as the kernel has `reported`; ETIMEDOUT where
    /// the environment limits waits.
    pub(crate) fn wait_for(&self, reported: u32, caller: &str) -> Result<()> {
        let mut count = self.count.lock();
        if missing(reported, *count) <= 0 {
            return Ok(());
        }
        let deadline = sync_timeout().begin();
        let mut log_at = Deadline::after(LONG_WAIT);
        while missing(reported, *count) > 0 {
            self.one_more.wait_until(&mut count, deadline.earlier(log_at));
            if missing(reported, *count) > 0 && log_at.has_passed() {
                log_at = Deadline::Never;
                log!(
                    Warn,
                    "{caller} waits for {} events to be given back by rdma_ack_cm_event: acknowledge \
                     every event first",
                    missing(reported, *count)
                );
            }
            if missing(reported, *count) > 0 && deadline.has_passed() {
                return Err(fail!(
                    ETIMEDOUT,
                    "{caller}: {} events were not given back by rdma_ack_cm_event before \
                     RDMACM_SYNC_TIMEOUT_MS was over",
                    missing(reported, *count)
                ));
            }
        }
        Ok(())
    }
}

/// Both numbers wrap, and the count may be ahead of an older report.
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
