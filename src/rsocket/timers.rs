// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The timers of the service thread: at most one for each descriptor. Pure data.

use alloc::collections::BinaryHeap;
use base::errno::{Errno, Result};
use base::fd::RawFd;
use base::time::Instant;
use core::cmp::Reverse;
use hashbrown::HashMap;

/// Entries that are out of date are swept out when there are more of them than this and than good
/// ones.
const STALE: usize = 64;

/// See the module text.
#[derive(Default)]
pub(crate) struct Timers {
    times: HashMap<RawFd, Instant>,
    /// In order of time. An entry that `times` does not confirm is out of date.
    order: BinaryHeap<Reverse<(Instant, RawFd)>>,
}

impl Timers {
    /// Sets the time of a descriptor, in place of the one it had; true when it is the next of all.
    pub(crate) fn set(&mut self, fd: RawFd, time: Instant) -> Result<bool> {
        self.sweep();
        self.times.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.order.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.times.insert(fd, time);
        self.order.push(Reverse((time, fd)));
        Ok(self.next() == Some(time))
    }

    pub(crate) fn cancel(&mut self, fd: RawFd) {
        self.times.remove(&fd);
    }

    /// The next time of all.
    pub(crate) fn next(&mut self) -> Option<Instant> {
        while let Some(Reverse((time, fd))) = self.order.peek().copied() {
            if self.times.get(&fd) == Some(&time) {
                return Some(time);
            }
            self.order.pop();
        }
        None
    }

    /// Takes a descriptor whose time has come.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<RawFd> {
        if self.next()? > now {
            return None;
        }
        let Reverse((_, fd)) = self.order.pop()?;
        self.times.remove(&fd);
        Some(fd)
    }

    fn sweep(&mut self) {
        if self.order.len() > self.times.len() * 2 + STALE {
            let times = &self.times;
            self.order.retain(|Reverse((time, fd))| times.get(fd) == Some(time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::random::Random;
    use core::time::Duration;

    #[test]
    fn they_do_as_a_plain_map_would() {
        let (mut timers, mut model) = (Timers::default(), HashMap::<RawFd, Instant>::new());
        let (mut random, start) = (Random::new(3), Instant::now());
        let mut now = start;
        for _ in 0..20_000 {
            let fd = random.below(40) as RawFd;
            match random.below(4) {
                0 => {
                    timers.cancel(fd);
                    model.remove(&fd);
                }
                1 | 2 => {
                    let time = now + Duration::from_millis(random.below(500));
                    let first = model.iter().all(|(other, at)| *other == fd || *at >= time);
                    assert_eq!(timers.set(fd, time), Ok(first));
                    model.insert(fd, time);
                }
                _ => {
                    now += Duration::from_millis(random.below(50));
                    while let Some(due) = timers.take_due(now) {
                        assert!(model.remove(&due).is_some_and(|time| time <= now));
                    }
                    assert!(model.values().all(|time| *time > now));
                }
            }
            assert_eq!(timers.next(), model.values().min().copied());
        }
    }

    #[test]
    fn setting_one_again_and_again_takes_no_more_room() {
        let (mut timers, start) = (Timers::default(), Instant::now());
        for round in 0..100_000 {
            assert!(timers.set(7, start + Duration::from_secs(round)).is_ok());
        }
        assert!(timers.order.len() <= STALE + 3);
        assert_eq!(timers.take_due(start + Duration::from_secs(99_998)), None);
        assert_eq!(timers.take_due(start + Duration::from_secs(99_999)), Some(7));
    }
}
