// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Memory that riomap has offered to the peer. Data only.

use crate::rsocket::wire::IomapEntry;
use crate::verbs::{MemoryRegion, OwnedDomain};
use alloc::vec::Vec;
use base::arc::Arc;

/// What riomap has offered.
#[derive(Default)]
pub(super) struct IomapList {
    pub(super) maps: Vec<Iomap>,
    /// Entries that have not been sent to the peer, oldest first.
    pub(super) unsent: Vec<(u16, IomapEntry)>,
}

/// One call of riomap, and others with the same arguments.
pub(super) struct Iomap {
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) offset: i64,
    pub(super) users: u32,
    /// Index in the peer's table; none for memory that only this side uses.
    pub(super) index: Option<u16>,
    pub(super) _registration: MemoryRegion,
    /// What it is registered in, where that is the connection's own.
    pub(super) _domain: Option<Arc<OwnedDomain>>,
}

impl IomapList {
    pub(super) fn clear(&mut self) {
        self.maps.clear();
    }
}
