//! When the service thread is to look at which socket: at most one time each.

use crate::error::{Errno, Result};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::os::fd::RawFd;
use std::time::Instant;

/// Entries that are out of date are swept out when there are more of them than this and than good ones.
const STALE: usize = 64;

/// See the module text.
#[derive(Default)]
pub(super) struct Timers {
    times: HashMap<RawFd, Instant>,
    /// In order of time. An entry that `times` does not confirm is out of date.
    order: BinaryHeap<Reverse<(Instant, RawFd)>>,
}

impl Timers {
    /// Sets the time of a socket, in place of the one it had; true when it is the next of all.
    pub(super) fn set(&mut self, fd: RawFd, time: Instant) -> Result<bool> {
        self.sweep();
        self.times.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.order.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.times.insert(fd, time);
        self.order.push(Reverse((time, fd)));
        Ok(self.next() == Some(time))
    }

    pub(super) fn cancel(&mut self, fd: RawFd) {
        self.times.remove(&fd);
    }

    /// The next time of all.
    pub(super) fn next(&mut self) -> Option<Instant> {
        while let Some(Reverse((time, fd))) = self.order.peek().copied() {
            if self.times.get(&fd) == Some(&time) {
                return Some(time);
            }
            self.order.pop();
        }
        None
    }

    /// Takes a socket whose time has come.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<RawFd> {
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
    use super::super::random::Random;
    use super::*;
    use std::time::Duration;

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
