// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Slots of equal size in registered memory, which grows: a region for as many slots as there are.
//!
//! Regions are never moved: a device may write to them.

use crate::rsocket::memory::region::Region;
use crate::verbs::{LOCAL, ProtectionDomain};
use alloc::vec::Vec;
use base::errno::Result;
use base::memory::try_reserve;
use core::ops::Range;
use rdma_sys::ibv_sge;

pub(super) struct Slots {
    /// The first has `first` slots, each next one as many as those before it; the last has fewer if
    /// there are `most`.
    regions: Vec<Region>,
    size: usize,
    first: u32,
    most: u32,
    pub(super) count: u32,
}

impl Slots {
    /// None yet.
    pub(super) fn new(size: usize, first: u32, most: u32) -> Slots {
        Slots { regions: Vec::new(), size, first: first.min(most).max(1), most, count: 0 }
    }

    pub(super) fn may_grow(&self) -> bool {
        self.count < self.most
    }

    pub(super) fn after_growth(&self) -> u32 {
        self.count.saturating_mul(2).max(self.first).min(self.most)
    }

    /// The new slots.
    pub(super) fn grow(&mut self, domain: ProtectionDomain) -> Result<Range<u32>> {
        let fresh = self.count..self.after_growth();
        if !fresh.is_empty() {
            try_reserve(&mut self.regions, 1)?;
            self.regions.push(Region::map(domain, fresh.len() * self.size, LOCAL)?);
            self.count = fresh.end;
        }
        Ok(fresh)
    }

    /// The index of a slot's region, and the slot's offset there.
    fn place(&self, slot: u32) -> (usize, usize) {
        match (slot / self.first).checked_ilog2() {
            None => (0, slot as usize * self.size),
            Some(doublings) => {
                let start = self.first << doublings;
                (doublings as usize + 1, (slot - start) as usize * self.size)
            }
        }
    }

    fn region(&self, slot: u32) -> Option<(&Region, usize)> {
        let (index, start) = self.place(slot);
        Some((self.regions.get(index)?, start))
    }

    /// A scatter entry for the beginning of a slot.
    pub(super) fn entry(&self, slot: u32, length: u32) -> Option<ibv_sge> {
        self.region(slot).map(|(region, start)| region.entry(start, length))
    }

    /// A pointer to bytes of a slot; NULL for what lies outside.
    pub(super) fn pointer(&self, slot: u32, at: usize, length: usize) -> *mut u8 {
        let found = self.region(slot);
        found.map_or(core::ptr::null_mut(), |(region, start)| region.pointer(start + at, length))
    }

    pub(super) fn read<const LENGTH: usize>(&self, slot: u32, at: usize) -> [u8; LENGTH] {
        self.region(slot).map_or([0; LENGTH], |(region, start)| region.read(start + at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_double() {
        let mut slots = Slots::new(10, 4, 21);
        for (before, after) in [(0, 4), (4, 8), (8, 16), (16, 21), (21, 21)] {
            slots.count = before;
            assert_eq!(slots.after_growth(), after);
            assert_eq!(slots.may_grow(), before < after);
        }
        let places = [0, 3, 4, 7, 8, 15, 16, 20].map(|slot| slots.place(slot));
        let expected = [(0, 0), (0, 30), (1, 0), (1, 30), (2, 0), (2, 70), (3, 0), (3, 40)];
        assert_eq!(places, expected);
        assert_eq!(Slots::new(10, 64, 5).first, 5);
    }
}
