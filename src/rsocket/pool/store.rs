// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Parts of one kind that wait for their next user: at most so many, and not for longer than there is
//! a use for them. Pure data.
//!
//! What has not been used for a whole period is surplus. The part that came last is used first, so that
//! those which nobody needs are the oldest.

use alloc::vec::Vec;
use base::counters::{count, layout};

/// How much a store keeps.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) parts: usize,
    pub(super) bytes: usize,
}

/// A part, the device that it was made on (zero: none), and its size.
pub(super) struct Kept<T> {
    pub(super) part: T,
    pub(super) device: usize,
    pub(super) bytes: usize,
}

/// See the module text.
pub(super) struct Store<T> {
    kept: Vec<Kept<T>>,
    bytes: usize,
    /// The fewest parts that there were in this period.
    unused: usize,
}

impl<T> Default for Store<T> {
    fn default() -> Store<T> {
        Store { kept: Vec::new(), bytes: 0, unused: 0 }
    }
}

impl<T> Store<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Keeps a part, or gives it back.
    pub(super) fn put(&mut self, part: Kept<T>, limit: Limit) -> Option<T> {
        let bytes = part.bytes;
        let has_room =
            self.kept.len() < limit.parts && bytes <= limit.bytes - self.bytes.min(limit.bytes);
        if !has_room || self.kept.try_reserve(1).is_err() {
            return Some(part.part);
        }
        self.bytes += bytes;
        self.kept.push(part);
        count(|words| {
            words.rise(layout::POOLED, 1);
            words.rise(layout::POOLED_BYTES, bytes as u64);
        });
        None
    }

    /// The last part of this device and size.
    pub(super) fn take(&mut self, device: usize, bytes: usize) -> Option<T> {
        let wanted = |kept: &Kept<T>| kept.device == device && kept.bytes == bytes;
        let index = self.kept.iter().rposition(wanted)?;
        self.remove(index)
    }

    /// Any part of this device.
    pub(super) fn take_of(&mut self, device: usize) -> Option<T> {
        let index = self.kept.iter().position(|kept| kept.device == device)?;
        self.remove(index)
    }

    pub(super) fn take_any(&mut self) -> Option<T> {
        let last = self.kept.len().checked_sub(1)?;
        self.remove(last)
    }

    /// The number of parts that were not used in the period that ends now: the oldest.
    pub(super) fn end_period(&mut self) -> usize {
        let unused = self.unused;
        self.unused = self.kept.len() - unused;
        unused
    }

    pub(super) fn take_oldest(&mut self) -> Option<T> {
        if self.kept.is_empty() { None } else { self.remove(0) }
    }

    fn remove(&mut self, index: usize) -> Option<T> {
        if index >= self.kept.len() {
            return None;
        }
        let kept = self.kept.remove(index);
        self.bytes -= kept.bytes;
        count(|words| {
            words.fall(layout::POOLED, 1);
            words.fall(layout::POOLED_BYTES, kept.bytes as u64);
        });
        self.unused = self.unused.min(self.kept.len());
        Some(kept.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::random::Random;

    const LIMIT: Limit = Limit { parts: 4, bytes: 100 };

    fn part(number: u32, device: usize, bytes: usize) -> Kept<u32> {
        Kept { part: number, device, bytes }
    }

    #[test]
    fn what_fits_comes_back_last_first() {
        let mut store = Store::default();
        for number in 0..3 {
            assert_eq!(store.put(part(number, 1, 10), LIMIT), None);
        }
        assert_eq!(store.put(part(3, 2, 10), LIMIT), None);
        assert_eq!(store.put(part(4, 1, 10), LIMIT), Some(4));
        assert_eq!(
            (store.take(1, 10), store.take(1, 11), store.take(3, 10)),
            (Some(2), None, None)
        );
        assert_eq!(store.put(part(5, 1, 71), LIMIT), Some(5));
        assert_eq!(store.put(part(6, 1, 70), LIMIT), None);
        assert_eq!((store.take_of(2), store.take_of(2)), (Some(3), None));
        assert_eq!(
            (store.take_any(), store.take_any(), store.take_any()),
            (Some(6), Some(1), Some(0))
        );
        assert!(store.is_empty() && store.take_any().is_none() && store.bytes == 0);
    }

    #[test]
    fn what_is_not_used_for_a_period_is_surplus() {
        let mut store = Store::default();
        for number in 0..4 {
            store.put(part(number, 0, 1), LIMIT);
        }
        // They came in this period.
        assert_eq!(store.end_period(), 0);
        // Two at a time were in use.
        for _ in 0..9 {
            let taken = [store.take(0, 1), store.take(0, 1)];
            for number in taken.into_iter().flatten() {
                assert_eq!(store.put(part(number, 0, 1), LIMIT), None);
            }
        }
        assert_eq!(store.end_period(), 2);
        assert_eq!((store.take_oldest(), store.take_oldest()), (Some(0), Some(1)));
        assert_eq!(store.end_period(), 2);
        assert!(store.take_oldest().is_some() && store.take_oldest().is_some());
        assert!(store.end_period() == 0 && store.is_empty());
    }

    #[test]
    fn no_sequence_keeps_more_than_the_limit() {
        let (mut random, mut store) = (Random::new(9), Store::default());
        for number in 0..20_000 {
            match random.below(6) {
                0 | 1 => {
                    store.take(0, random.below(60) as usize);
                }
                2 if random.below(20) == 0 => {
                    for _ in 0..store.end_period() {
                        assert!(store.take_oldest().is_some());
                    }
                }
                _ => {
                    store.put(part(number, 0, random.below(60) as usize), LIMIT);
                }
            }
            let bytes: usize = store.kept.iter().map(|kept| kept.bytes).sum();
            assert!(
                bytes == store.bytes && bytes <= LIMIT.bytes && store.kept.len() <= LIMIT.parts
            );
            assert!(store.unused <= store.kept.len());
        }
    }
}
