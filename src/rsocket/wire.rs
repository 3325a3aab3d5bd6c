//! What two rsockets tell each other: connection data, messages, and the entries that one side writes
//! into the other's memory. Everything read here comes from a peer that may be hostile.

use crate::error::{Errno, Result};

/// Length of the connection data.
pub(crate) const CONNECTION_DATA: usize = FIRST_AT + SEGMENT;
/// What comes before it where native InfiniBand addresses are in use.
pub(crate) const IB_HEADER: usize = 36;
/// Entries of the target list that each side offers.
pub(crate) const TARGETS: u32 = 2;
/// Bytes of an entry of the target list.
pub(crate) const SEGMENT: usize = 16;
/// Bytes of an entry of the iomap table.
pub(crate) const IOMAP_ENTRY: usize = 24;

// Version, flags, credits, three bytes reserved, and then:
const IOMAP_AT: usize = 7;
const TARGETS_AT: usize = 8;
const FIRST_AT: usize = TARGETS_AT + SEGMENT;

const VERSION: u8 = 1;
const BIG_ENDIAN: u8 = 1;
const HAS_IOMAP: u8 = 2;
/// More entries than any peer has a use for.
const MAX_TARGETS: u32 = 4096;

/// Memory of one side that the other writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) key: u32,
    pub(crate) length: u32,
}

impl Segment {
    /// As an entry of the target list, in the byte order of its reader.
    pub(crate) fn to_entry(self, swapped: bool) -> [u8; SEGMENT] {
        let (address, key, length) = if swapped {
            (self.address.swap_bytes(), self.key.swap_bytes(), self.length.swap_bytes())
        } else {
            (self.address, self.key, self.length)
        };
        let mut bytes = [0; SEGMENT];
        bytes[..8].copy_from_slice(&address.to_ne_bytes());
        bytes[8..12].copy_from_slice(&key.to_ne_bytes());
        bytes[12..].copy_from_slice(&length.to_ne_bytes());
        bytes
    }

    pub(crate) fn from_entry(bytes: &[u8; SEGMENT]) -> Segment {
        let [a0, a1, a2, a3, a4, a5, a6, a7, k0, k1, k2, k3, l0, l1, l2, l3] = *bytes;
        Segment {
            address: u64::from_ne_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            key: u32::from_ne_bytes([k0, k1, k2, k3]),
            length: u32::from_ne_bytes([l0, l1, l2, l3]),
        }
    }

    fn to_network(self) -> [u8; SEGMENT] {
        Segment {
            address: self.address.to_be(),
            key: self.key.to_be(),
            length: self.length.to_be(),
        }
        .to_entry(false)
    }

    fn from_network(bytes: &[u8; SEGMENT]) -> Segment {
        let raw = Segment::from_entry(bytes);
        Segment {
            address: u64::from_be(raw.address),
            key: u32::from_be(raw.key),
            length: u32::from_be(raw.length),
        }
    }
}

/// One entry of the iomap table: the peer's memory at an offset of its choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct IomapEntry {
    pub(crate) offset: u64,
    pub(crate) segment: Segment,
}

impl IomapEntry {
    pub(crate) fn to_bytes(self, swapped: bool) -> [u8; IOMAP_ENTRY] {
        let offset = if swapped { self.offset.swap_bytes() } else { self.offset };
        let mut bytes = [0; IOMAP_ENTRY];
        bytes[..8].copy_from_slice(&offset.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.segment.to_entry(swapped));
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; IOMAP_ENTRY]) -> IomapEntry {
        let (mut offset, mut segment) = ([0; 8], [0; SEGMENT]);
        offset.copy_from_slice(&bytes[..8]);
        segment.copy_from_slice(&bytes[8..]);
        IomapEntry { offset: u64::from_ne_bytes(offset), segment: Segment::from_entry(&segment) }
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

/// The private data of connect and accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionData {
    pub(crate) big_endian: bool,
    /// Messages that the peer may send before it hears of more.
    pub(crate) credits: u16,
    /// Entries of the iomap table, which lies behind the target list.
    pub(crate) iomap_size: u16,
    /// The target list: address, key, and the number of its entries.
    pub(crate) targets: Segment,
    /// The first part of the receive buffer.
    pub(crate) first: Segment,
}

impl ConnectionData {
    pub(crate) fn encode(&self) -> [u8; CONNECTION_DATA] {
        let mut bytes = [0; CONNECTION_DATA];
        bytes[0] = VERSION;
        bytes[1] = HAS_IOMAP | if self.big_endian { BIG_ENDIAN } else { 0 };
        bytes[2..4].copy_from_slice(&self.credits.to_be_bytes());
        bytes[IOMAP_AT] = to_scale(self.iomap_size);
        bytes[TARGETS_AT..FIRST_AT].copy_from_slice(&self.targets.to_network());
        bytes[FIRST_AT..].copy_from_slice(&self.first.to_network());
        bytes
    }

    /// EPROTO for data that is too short or makes no sense, ENOTSUP for another version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<ConnectionData> {
        if bytes.len() < CONNECTION_DATA {
            return Err(Errno::EPROTO);
        }
        if bytes[0] != VERSION {
            return Err(Errno::EOPNOTSUPP);
        }
        let segment = |at: usize| {
            let mut raw = [0; SEGMENT];
            raw.copy_from_slice(&bytes[at..at + SEGMENT]);
            Segment::from_network(&raw)
        };
        let data = ConnectionData {
            big_endian: bytes[1] & BIG_ENDIAN != 0,
            credits: u16::from_be_bytes([bytes[2], bytes[3]]),
            iomap_size: if bytes[1] & HAS_IOMAP != 0 { from_scale(bytes[IOMAP_AT]) } else { 0 },
            targets: segment(TARGETS_AT),
            first: segment(FIRST_AT),
        };
        let list = u64::from(data.targets.length) * SEGMENT as u64
            + u64::from(data.iomap_size) * IOMAP_ENTRY as u64;
        let sane = (TARGETS..=MAX_TARGETS).contains(&data.targets.length)
            && data.targets.address.checked_add(list).is_some()
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
pub(crate) enum Message {
    /// So many bytes were written.
    Data(u32),
    /// Messages up to this sequence number may be sent; perhaps a new target entry.
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

impl Message {
    pub(crate) fn encode(self) -> u32 {
        let (kind, value) = match self {
            Message::Data(bytes) => (0, bytes),
            Message::Credit(limit) => (4, u32::from(limit)),
            Message::Iomap(index) => (6, index),
            Message::Disconnect => (7, 0),
            Message::KeepAlive => (7, 1),
            Message::Shutdown => (7, 2),
            Message::Unknown(raw) => return raw,
        };
        (kind << KIND_BITS) | (value & VALUE)
    }

    #[inline]
    pub(crate) fn decode(raw: u32) -> Message {
        if raw <= VALUE { Message::Data(raw) } else { Message::decode_control(raw) }
    }

    #[inline(never)]
    fn decode_control(raw: u32) -> Message {
        let value = raw & VALUE;
        match (raw >> KIND_BITS, value) {
            (4, limit) => Message::Credit(limit as u16),
            (6, index) => Message::Iomap(index),
            (7, 0) => Message::Disconnect,
            (7, 1) => Message::KeepAlive,
            (7, 2) => Message::Shutdown,
            _ => Message::Unknown(raw),
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
            targets: Segment { address: 0x1122_3344_5566_7788, key: 0x99AA_BBCC, length: 2 },
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
        for length in 0..CONNECTION_DATA {
            let bytes = sample().encode();
            assert_eq!(ConnectionData::decode(&bytes[..length]).err(), Some(Errno::EPROTO));
        }
        let mut other = sample().encode();
        other[0] = 2;
        assert_eq!(ConnectionData::decode(&other).err(), Some(Errno::EOPNOTSUPP));
        for length in [0, 1, MAX_TARGETS + 1, u32::MAX] {
            let targets = Segment { length, ..sample().targets };
            assert_eq!(decode(ConnectionData { targets, ..sample() }), Some(Errno::EPROTO));
        }
        let targets = Segment { address: u64::MAX - 10, ..sample().targets };
        assert_eq!(decode(ConnectionData { targets, ..sample() }), Some(Errno::EPROTO));
        let first = Segment { address: u64::MAX, ..sample().first };
        assert_eq!(decode(ConnectionData { first, ..sample() }), Some(Errno::EPROTO));
    }

    #[test]
    fn any_bytes_decode_without_harm() {
        let mut random = super::super::random::Random::new(7);
        for _ in 0..20_000 {
            let mut bytes = [0; 64];
            random.fill(&mut bytes);
            bytes[0] &= 1;
            if let Ok(data) = ConnectionData::decode(&bytes) {
                assert!(data.targets.length >= TARGETS);
            }
            let raw = random.next() as u32;
            if !matches!(Message::decode(raw), Message::Credit(_)) {
                assert_eq!(Message::decode(raw).encode(), raw);
            }
        }
    }

    #[test]
    fn messages_keep_their_numbers() {
        for (message, raw) in [
            (Message::Data(4096), 4096),
            (Message::Data(VALUE), VALUE),
            (Message::Credit(0xFFFE), 0x8000_FFFE),
            (Message::Iomap(3), 0xC000_0003),
            (Message::Disconnect, 0xE000_0000),
            (Message::KeepAlive, 0xE000_0001),
            (Message::Shutdown, 0xE000_0002),
            (Message::Unknown(0x2000_0000), 0x2000_0000),
        ] {
            assert_eq!(message.encode(), raw);
            assert_eq!(Message::decode(raw), message);
        }
        assert_eq!(Message::decode(0xE000_0003), Message::Unknown(0xE000_0003));
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
        assert_eq!(Segment::from_entry(&segment.to_entry(false)), segment);
        let swapped = Segment::from_entry(&segment.to_entry(true));
        assert_eq!(swapped.address, segment.address.swap_bytes());
        assert_eq!(swapped.length, segment.length.swap_bytes());
        let entry = IomapEntry { offset: 77, segment };
        assert_eq!(IomapEntry::from_bytes(&entry.to_bytes(false)), entry);
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
