//! Headers of datagrams, over UDP and over the device. What is read here anybody may have sent.

use crate::types::SocketAddress;
use libc::{AF_INET, AF_INET6};

/// Bytes of a slot, header included.
pub(crate) const SLOT: usize = 2048;
const TAG: u32 = 0x5555_5555;
const UDP_V4: usize = 16;
const UDP_V6: usize = 28;
const SLOT_V4: usize = 8;
const SLOT_V6: usize = 24;
const QUEUE_PAIR: u32 = 0x00FF_FFFF;

/// What a UDP packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A datagram, for want of a better way.
    Data,
    /// Only tells the sender's queue pair.
    Control,
}

/// The header of a UDP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UdpHeader {
    pub(crate) operation: Operation,
    /// Number of the sender's queue pair, zero for none.
    pub(crate) queue_pair: u32,
    pub(crate) length: usize,
}

/// A header with its length; the rest of the bytes is not sent.
pub(crate) struct Encoded {
    bytes: [u8; UDP_V6],
    length: usize,
}

impl Encoded {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

fn is_v6(address: &SocketAddress) -> bool {
    address.family() == AF_INET6
}

/// The header of a UDP packet to `target`.
pub(crate) fn encode_udp(operation: Operation, queue_pair: u32, target: &SocketAddress) -> Encoded {
    let mut bytes = [0; UDP_V6];
    let raw = target.bytes();
    let (version, length, address) =
        if is_v6(target) { (6, UDP_V6, &raw[8..24]) } else { (4, UDP_V4, &raw[4..8]) };
    bytes[..4].copy_from_slice(&TAG.to_be_bytes());
    bytes[4] = version;
    bytes[5] = match operation {
        Operation::Data => 0,
        Operation::Control => 7,
    };
    bytes[6] = length as u8;
    bytes[8..12].copy_from_slice(&(queue_pair & QUEUE_PAIR).to_be_bytes());
    bytes[12..length].copy_from_slice(address);
    Encoded { bytes, length }
}

pub(crate) fn decode_udp(packet: &[u8]) -> Option<UdpHeader> {
    let start: &[u8; 12] = packet.first_chunk()?;
    let word = |at: usize| {
        let mut raw = [0; 4];
        raw.copy_from_slice(&start[at..at + 4]);
        u32::from_be_bytes(raw)
    };
    let length = match start[4] {
        4 => UDP_V4,
        6 => UDP_V6,
        _ => return None,
    };
    if word(0) != TAG || usize::from(start[6]) != length || packet.len() < length {
        return None;
    }
    let operation = match start[5] {
        0 => Operation::Data,
        7 => Operation::Control,
        _ => return None,
    };
    Some(UdpHeader { operation, queue_pair: word(8) & QUEUE_PAIR, length })
}

/// The header of a datagram from `source`, in its slot.
pub(crate) fn encode_slot(source: &SocketAddress) -> Encoded {
    let mut bytes = [0; UDP_V6];
    let raw = source.bytes();
    let length = if is_v6(source) {
        bytes[0] = 6;
        bytes[2..4].copy_from_slice(&raw[2..4]);
        bytes[4..24].copy_from_slice(&raw[4..24]);
        SLOT_V6
    } else {
        bytes[0] = 4;
        bytes[2..8].copy_from_slice(&raw[2..8]);
        SLOT_V4
    };
    bytes[1] = length as u8;
    Encoded { bytes, length }
}

/// The sender of a datagram and the length of its header.
pub(crate) fn decode_slot(slot: &[u8]) -> Option<(SocketAddress, usize)> {
    let (version, length) = (*slot.first()?, usize::from(*slot.get(1)?));
    let mut raw = [0; 28];
    let size = match (version, length) {
        (4, SLOT_V4) if slot.len() >= SLOT_V4 => {
            raw[..2].copy_from_slice(&(AF_INET as u16).to_ne_bytes());
            raw[2..8].copy_from_slice(&slot[2..SLOT_V4]);
            16
        }
        (6, SLOT_V6) if slot.len() >= SLOT_V6 => {
            raw[..2].copy_from_slice(&(AF_INET6 as u16).to_ne_bytes());
            raw[2..4].copy_from_slice(&slot[2..4]);
            raw[4..24].copy_from_slice(&slot[4..SLOT_V6]);
            28
        }
        _ => return None,
    };
    Some((SocketAddress::from_bytes(&raw[..size])?, length))
}

#[cfg(test)]
mod tests {
    use super::super::super::random::Random;
    use super::*;

    fn address(family: i32) -> Option<SocketAddress> {
        let mut raw: Vec<u8> = (0..28).collect();
        raw[..2].copy_from_slice(&(family as u16).to_ne_bytes());
        raw[24..].fill(0);
        SocketAddress::from_bytes(&raw)
    }

    #[test]
    fn udp_headers_come_back() {
        for (family, length) in [(AF_INET, 16), (AF_INET6, 28)] {
            let Some(target) = address(family) else { continue };
            for operation in [Operation::Data, Operation::Control] {
                let encoded = encode_udp(operation, 0xFF12_3456, &target);
                let header = UdpHeader { operation, queue_pair: 0x12_3456, length };
                assert_eq!(decode_udp(encoded.bytes()), Some(header));
                for short in 0..length {
                    assert_eq!(decode_udp(&encoded.bytes()[..short]), None);
                }
            }
        }
    }

    #[test]
    fn a_short_packet_of_version_six_is_dropped() {
        let mut packet = [0; 28];
        packet[..4].copy_from_slice(&TAG.to_be_bytes());
        (packet[4], packet[6]) = (6, 28);
        for length in 12..28 {
            assert_eq!(decode_udp(&packet[..length]), None);
        }
        packet[6] = 16;
        assert_eq!(decode_udp(&packet), None);
    }

    #[test]
    fn slot_headers_come_back() {
        for (family, length) in [(AF_INET, 8), (AF_INET6, 24)] {
            let Some(source) = address(family) else { continue };
            let encoded = encode_slot(&source);
            let decoded = decode_slot(encoded.bytes());
            assert!(decoded.is_some_and(|(from, used)| from.is_same(&source) && used == length));
            for short in 0..length {
                assert!(decode_slot(&encoded.bytes()[..short]).is_none());
            }
        }
    }

    #[test]
    fn any_bytes_decode_without_harm() {
        let mut random = Random::new(11);
        for _ in 0..50_000 {
            let mut bytes = vec![0; random.below(40) as usize];
            random.fill(&mut bytes);
            if random.below(2) == 0 && bytes.len() > 6 {
                bytes[..4].copy_from_slice(&TAG.to_be_bytes());
                bytes[4] = [4, 6][random.below(2) as usize];
                bytes[6] = [16, 28][random.below(2) as usize];
            }
            if let Some(header) = decode_udp(&bytes) {
                assert!(header.length <= bytes.len());
            }
            if let Some(first) = bytes.first_mut() {
                *first &= 6;
            }
            if let Some((_, used)) = decode_slot(&bytes) {
                assert!(used <= bytes.len());
            }
        }
    }
}
