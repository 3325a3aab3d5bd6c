// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Paths through an InfiniBand fabric, as the subnet administrator packs them (`<infiniband/sa.h>`,
//! `<infiniband/acm.h>`).

use core::mem::size_of;
use zerocopy::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct ibv_path_record`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub(crate) struct PathRecord {
    pub(crate) service_id: U64,
    pub(crate) dgid: [u8; 16],
    pub(crate) sgid: [u8; 16],
    pub(crate) dlid: U16,
    pub(crate) slid: U16,
    /// Flow label (20 bits), hop limit (8 bits).
    pub(crate) flow_label_hop_limit: U32,
    pub(crate) traffic_class: u8,
    /// Reversible (1 bit), number of paths (7 bits).
    pub(crate) reversible_count: u8,
    pub(crate) pkey: U16,
    /// Class of service (12 bits), service level (4 bits).
    pub(crate) qos_class_sl: U16,
    /// A selector (2 bits) and a value (6 bits), as the two after it.
    pub(crate) mtu: u8,
    pub(crate) rate: u8,
    pub(crate) packet_life_time: u8,
    pub(crate) preference: u8,
    pub(crate) reserved: [u8; 6],
}

impl PathRecord {
    pub(crate) const ZERO: PathRecord = zerocopy::transmute!([0_u8; size_of::<PathRecord>()]);

    pub(crate) fn flow_label(&self) -> u32 {
        self.flow_label_hop_limit.get() >> 8
    }

    pub(crate) fn hop_limit(&self) -> u8 {
        self.flow_label_hop_limit.get() as u8
    }
}

/// `struct ibv_path_data`; the kernel's `struct ib_path_rec_data` is the same.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub(crate) struct PathData {
    pub(crate) flags: u32,
    pub(crate) reserved: u32,
    pub(crate) record: PathRecord,
}

const _: () = assert!(size_of::<PathRecord>() == 64 && size_of::<PathData>() == 72);
