// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The stream protocol: connection data, messages, and the entries that one side writes into the
//! other's memory. Pure: no I/O, no state. Everything decoded here comes from a peer that may be
//! hostile.

use base::errno::{Errno, Result};
use core::mem::size_of;
use zerocopy::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, transmute};

/// Bytes of the connection data.
pub(crate) const CONNECTION_DATA_SIZE: usize = size_of::<RawConnectionData>();
/// What comes before it where native InfiniBand addresses are in use.
pub(crate) const IB_HEADER_SIZE: usize = 36;
/// Entries of the scatter list that each side offers.
pub(crate) const REMOTE_SGL_ENTRIES: u32 = 2;
/// Bytes of an entry of the scatter list.
pub(crate) const SEGMENT_SIZE: usize = size_of::<Segment>();
/// Bytes of an entry of the iomap table.
pub(crate) const IOMAP_ENTRY_SIZE: usize = size_of::<IomapEntry>();

const VERSION: u8 = 1;
const BIG_ENDIAN: u8 = 1;
const HAS_IOMAP: u8 = 2;
/// More entries than any peer has a use for.
const MAX_REMOTE_SGL_ENTRIES: u32 = 4096;

/// Memory of one side that the other writes to. As an entry of the scatter list it is in the byte
/// order of its reader.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) key: u32,
    pub(crate) length: u32,
}

impl Segment {
    /// In the other byte order, if `swapped`.
    fn ordered(self, swapped: bool) -> Segment {
        if !swapped {
            return self;
        }
        Segment {
            address: self.address.swap_bytes(),
            key: self.key.swap_bytes(),
            length: self.length.swap_bytes(),
        }
    }

    /// As an entry of the scatter list; `swapped` where the reader has the other byte order.
    pub(crate) fn to_bytes(self, swapped: bool) -> [u8; SEGMENT_SIZE] {
        transmute!(self.ordered(swapped))
    }

    pub(crate) fn from_bytes(bytes: [u8; SEGMENT_SIZE]) -> Segment {
        transmute!(bytes)
    }
}

/// One entry of the iomap table: memory of the peer at an offset of its choice.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub(crate) struct IomapEntry {
    pub(crate) offset: u64,
    pub(crate) segment: Segment,
}

impl IomapEntry {
    /// `swapped` where the reader has the other byte order.
    pub(crate) fn to_bytes(self, swapped: bool) -> [u8; IOMAP_ENTRY_SIZE] {
        let offset = if swapped { self.offset.swap_bytes() } else { self.offset };
        transmute!(IomapEntry { offset, segment: self.segment.ordered(swapped) })
    }

    pub(crate) fn from_bytes(bytes: [u8; IOMAP_ENTRY_SIZE]) -> IomapEntry {
        transmute!(bytes)
    }

    /// Address, key and length of what lies at `offset`, at most `wanted` bytes.
    pub(crate) fn at(&self, offset: u64, wanted: u64) -> Option<(u64, u32, u64)> {
        let inside = offset.checked_sub(self.offset)?;
        let left = u64::from(self.segment.length).checked_sub(inside)?;
        (left > 0).then_some((
            self.segment.address.wrapping_add(inside),
            self.segment.key,
            left.min(wanted),
        ))
    }
}

/// A segment in the connection data: big endian.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawSegment {
    address: U64,
    key: U32,
    length: U32,
}

impl From<Segment> for RawSegment {
    fn from(segment: Segment) -> RawSegment {
        RawSegment {
            address: segment.address.into(),
            key: segment.key.into(),
            length: segment.length.into(),
        }
    }
}

impl From<RawSegment> for Segment {
    fn from(raw: RawSegment) -> Segment {
        Segment { address: raw.address.get(), key: raw.key.get(), length: raw.length.get() }
    }
}

/// The connection data as it travels.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawConnectionData {
    version: u8,
    flags: u8,
    credits: U16,
    reserved: [u8; 3],
    /// In the scale of `to_scale`.
    iomap_size: u8,
    remote_sgl: RawSegment,
    first: RawSegment,
}

const _: () = assert!(CONNECTION_DATA_SIZE == 40 && SEGMENT_SIZE == 16 && IOMAP_ENTRY_SIZE == 24);

/// The private data of connect and accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionData {
    /// The byte order of the sender.
    pub(crate) big_endian: bool,
    /// Messages that the peer may send before it has further credit.
    pub(crate) credits: u16,
    /// Entries of the iomap table, which lies behind the scatter list.
    pub(crate) iomap_size: u16,
    /// The scatter list that the peer reads its segments from: address, key, number of entries.
    pub(crate) remote_sgl: Segment,
    /// The first part of the receive buffer.
    pub(crate) first: Segment,
}

impl ConnectionData {
    pub(crate) fn encode(&self) -> [u8; CONNECTION_DATA_SIZE] {
        transmute!(RawConnectionData {
            version: VERSION,
            flags: HAS_IOMAP | if self.big_endian { BIG_ENDIAN } else { 0 },
            credits: self.credits.into(),
            reserved: [0; 3],
            iomap_size: to_scale(self.iomap_size),
            remote_sgl: self.remote_sgl.into(),
            first: self.first.into(),
        })
    }

    /// EPROTO for data that is too short or makes no sense, ENOTSUP for another version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<ConnectionData> {
        // Transports pad private data.
        let (raw, _) = RawConnectionData::ref_from_prefix(bytes).map_err(|_| Errno::EPROTO)?;
        if raw.version != VERSION {
            return Err(Errno::EOPNOTSUPP);
        }
        let data = ConnectionData {
            big_endian: raw.flags & BIG_ENDIAN != 0,
            credits: raw.credits.get(),
            iomap_size: if raw.flags & HAS_IOMAP != 0 { from_scale(raw.iomap_size) } else { 0 },
            remote_sgl: raw.remote_sgl.into(),
            first: raw.first.into(),
        };
        let list = u64::from(data.remote_sgl.length) * SEGMENT_SIZE as u64
            + u64::from(data.iomap_size) * IOMAP_ENTRY_SIZE as u64;
        let sane = (REMOTE_SGL_ENTRIES..=MAX_REMOTE_SGL_ENTRIES).contains(&data.remote_sgl.length)
            && data.remote_sgl.address.checked_add(list).is_some()
            && data.first.address.checked_add(u64::from(data.first.length)).is_some();
        if sane { Ok(data) } else { Err(Errno::EPROTO) }
    }
}

/// A number in eight bits: small ones as they are, larger ones in units of 256.
pub(crate) fn to_scale(value: u16) -> u8 {
    if value <= 128 { value as u8 } else { 0x80 | (value >> 8) as u8 }
}

pub(crate) fn from_scale(scale: u8) -> u16 {
    if scale <= 128 { u16::from(scale) } else { u16::from(scale & 0x7F) << 8 }
}

/// A message: 32 bits, the kind in the upper three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamMessage {
    /// So many bytes were written.
    Data(u32),
    /// Messages up to this sequence number may be sent; perhaps with a new entry of the scatter
    /// list.
    Credit(u16),
    /// An entry of the iomap table was written.
    Iomap(u32),
    Disconnect,
    KeepAlive,
    /// The sender will write no more.
    Shutdown,
    /// A kind of no meaning in this version.
    Unknown(u32),
}

const KIND_BITS: u32 = 29;
const VALUE: u32 = (1 << KIND_BITS) - 1;

impl StreamMessage {
    pub(crate) fn encode(self) -> u32 {
        let (kind, value) = match self {
            StreamMessage::Data(bytes) => (0, bytes),
            StreamMessage::Credit(limit) => (4, u32::from(limit)),
            StreamMessage::Iomap(index) => (6, index),
            StreamMessage::Disconnect => (7, 0),
            StreamMessage::KeepAlive => (7, 1),
            StreamMessage::Shutdown => (7, 2),
            StreamMessage::Unknown(raw) => return raw,
        };
        (kind << KIND_BITS) | (value & VALUE)
    }

    #[inline]
    pub(crate) fn decode(raw: u32) -> StreamMessage {
        if raw <= VALUE { StreamMessage::Data(raw) } else { StreamMessage::decode_control(raw) }
    }

    #[inline(never)]
    fn decode_control(raw: u32) -> StreamMessage {
        let value = raw & VALUE;
        match (raw >> KIND_BITS, value) {
            (4, limit) => StreamMessage::Credit(limit as u16),
            (6, index) => StreamMessage::Iomap(index),
            (7, 0) => StreamMessage::Disconnect,
            (7, 1) => StreamMessage::KeepAlive,
            (7, 2) => StreamMessage::Shutdown,
            _ => StreamMessage::Unknown(raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ConnectionData {
        ConnectionData {
            big_endian: false,
            credits: 384,
            iomap_size: 256,
            remote_sgl: Segment { address: 0x1122_3344_5566_7788, key: 0x99AA_BBCC, length: 2 },
            first: Segment { address: 0x0102_0304_0506_0708, key: 7, length: 65536 },
        }
    }

    #[test]
    fn connection_data_has_its_bytes_in_their_places() {
        let bytes = sample().encode();
        assert_eq!(bytes[..8], [1, 2, 1, 128, 0, 0, 0, 0x81]);
        assert_eq!(bytes[8..16], 0x1122_3344_5566_7788_u64.to_be_bytes());
        assert_eq!(bytes[16..24], [0x99, 0xAA, 0xBB, 0xCC, 0, 0, 0, 2]);
        assert_eq!(bytes[36..40], 65536_u32.to_be_bytes());
        assert_eq!(ConnectionData::decode(&bytes), Ok(sample()));
        // Transports pad private data.
        let mut padded = bytes.to_vec();
        padded.resize(196, 0xFF);
        assert_eq!(ConnectionData::decode(&padded), Ok(sample()));
    }

    #[test]
    fn senseless_connection_data_is_refused() {
        let decode = |data: ConnectionData| ConnectionData::decode(&data.encode()).err();
        for length in 0..CONNECTION_DATA_SIZE {
            let bytes = sample().encode();
            assert_eq!(ConnectionData::decode(&bytes[..length]).err(), Some(Errno::EPROTO));
        }
        let mut other = sample().encode();
        other[0] = 2;
        assert_eq!(ConnectionData::decode(&other).err(), Some(Errno::EOPNOTSUPP));
        for length in [0, 1, MAX_REMOTE_SGL_ENTRIES + 1, u32::MAX] {
            let remote_sgl = Segment { length, ..sample().remote_sgl };
            assert_eq!(decode(ConnectionData { remote_sgl, ..sample() }), Some(Errno::EPROTO));
        }
        let remote_sgl = Segment { address: u64::MAX - 10, ..sample().remote_sgl };
        assert_eq!(decode(ConnectionData { remote_sgl, ..sample() }), Some(Errno::EPROTO));
        let first = Segment { address: u64::MAX, ..sample().first };
        assert_eq!(decode(ConnectionData { first, ..sample() }), Some(Errno::EPROTO));
    }

    #[test]
    fn any_bytes_decode_without_harm() {
        let mut random = base::random::Random::new(7);
        for _ in 0..20_000 {
            let mut bytes = [0; 64];
            random.fill(&mut bytes);
            bytes[0] &= 1;
            if let Ok(data) = ConnectionData::decode(&bytes) {
                assert!(data.remote_sgl.length >= REMOTE_SGL_ENTRIES);
            }
            let raw = random.draw() as u32;
            if !matches!(StreamMessage::decode(raw), StreamMessage::Credit(_)) {
                assert_eq!(StreamMessage::decode(raw).encode(), raw);
            }
        }
    }

    #[test]
    fn messages_keep_their_numbers() {
        for (message, raw) in [
            (StreamMessage::Data(4096), 4096),
            (StreamMessage::Data(VALUE), VALUE),
            (StreamMessage::Credit(0xFFFE), 0x8000_FFFE),
            (StreamMessage::Iomap(3), 0xC000_0003),
            (StreamMessage::Disconnect, 0xE000_0000),
            (StreamMessage::KeepAlive, 0xE000_0001),
            (StreamMessage::Shutdown, 0xE000_0002),
            (StreamMessage::Unknown(0x2000_0000), 0x2000_0000),
        ] {
            assert_eq!(message.encode(), raw);
            assert_eq!(StreamMessage::decode(raw), message);
        }
        assert_eq!(StreamMessage::decode(0xE000_0003), StreamMessage::Unknown(0xE000_0003));
    }

    #[test]
    fn scale_keeps_small_numbers_and_never_grows() {
        for value in 0..=128 {
            assert_eq!(from_scale(to_scale(value)), value);
        }
        for value in 0..=u16::MAX {
            assert!(from_scale(to_scale(value)) <= value);
        }
        assert_eq!(from_scale(to_scale(256)), 256);
        assert_eq!(from_scale(0xFF), 0x7F00);
    }

    #[test]
    fn entries_swap_for_the_other_byte_order() {
        let segment = Segment { address: 0x0102_0304_0506_0708, key: 0x090A_0B0C, length: 0x0D0E };
        assert_eq!(Segment::from_bytes(segment.to_bytes(false)), segment);
        let swapped = Segment::from_bytes(segment.to_bytes(true));
        assert_eq!(swapped.address, segment.address.swap_bytes());
        assert_eq!(swapped.length, segment.length.swap_bytes());
        let entry = IomapEntry { offset: 77, segment };
        assert_eq!(IomapEntry::from_bytes(entry.to_bytes(false)), entry);
    }

    #[test]
    fn iomap_lookups_stay_inside() {
        let segment = Segment { address: 1000, key: 5, length: 100 };
        let entry = IomapEntry { offset: 50, segment };
        assert_eq!(entry.at(49, 1), None);
        assert_eq!(entry.at(50, 10), Some((1000, 5, 10)));
        assert_eq!(entry.at(149, 10), Some((1099, 5, 1)));
        assert_eq!(entry.at(150, 1), None);
        let wild = IomapEntry { offset: u64::MAX - 1, segment };
        assert_eq!(wild.at(u64::MAX, u64::MAX), Some((1001, 5, 99)));
    }
}
