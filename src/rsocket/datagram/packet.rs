// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The datagram protocol: headers over UDP and over the device. Pure. What is decoded here anybody
//! may have sent.

use crate::types::{MAPPED, SocketAddress};
use core::mem::size_of;
use libc::{AF_INET, AF_INET6};
use zerocopy::network_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes of a slot, header included.
pub(crate) const SLOT: usize = 2048;
const TAG: u32 = 0x5555_5555;
const QUEUE_PAIR: u32 = 0x00FF_FFFF;
const DATA: u8 = 0;
const CONTROL: u8 = 7;

macro_rules! header {
    ($(#[$meta:meta])* $name:ident, $size:literal { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
        #[repr(C)]
        struct $name { $($field: $type),* }
        const _: () = assert!(size_of::<$name>() == $size);
    };
}

header!(
    /// How every UDP packet begins.
    UdpStart, 12 { tag: U32, version: u8, kind: u8, length: u8, reserved: u8, queue_pair: U32 }
);
header!(
    /// With the address that the packet is sent to.
    UdpV4, 16 { start: UdpStart, target: [u8; 4] }
);
header!(UdpV6, 28 { start: UdpStart, target: [u8; 16] });

header!(
    /// Before each datagram in a slot: where it comes from, as it stands in a socket address.
    SlotV4, 8 { version: u8, length: u8, port: [u8; 2], address: [u8; 4] }
);
header!(SlotV6, 24 {
    version: u8, length: u8, port: [u8; 2], flow_info: [u8; 4], address: [u8; 16],
});

header!(
    /// `struct sockaddr_in`.
    AddressV4, 16 { family: [u8; 2], port: [u8; 2], address: [u8; 4], padding: [u8; 8] }
);
header!(
    /// `struct sockaddr_in6`.
    AddressV6, 28 {
        family: [u8; 2], port: [u8; 2], flow_info: [u8; 4], address: [u8; 16], scope: [u8; 4],
    }
);

/// What a UDP packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    /// A datagram that cannot go over the device.
    Data,
    /// Only names the sender's queue pair.
    Control,
}

/// The header of a UDP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UdpHeader {
    pub(crate) kind: PacketKind,
    /// Number of the sender's queue pair, zero for none.
    pub(crate) queue_pair: u32,
    pub(crate) length: usize,
    host: [u8; 16],
}

impl UdpHeader {
    /// The address that it names: where it was sent to, or, of the C library, where it comes from.
    pub(crate) fn host(&self) -> &[u8] {
        let length = self.length.saturating_sub(size_of::<UdpStart>());
        self.host.get(..length).unwrap_or_default()
    }

    /// Whether it names that address. Either may be an IPv4 address as an IPv6 socket has it.
    pub(crate) fn names(&self, address: &SocketAddress) -> bool {
        bare(self.host()) == bare(address.host())
    }
}

/// The IPv4 address in an IPv4-mapped one.
fn bare(host: &[u8]) -> &[u8] {
    host.strip_prefix(&MAPPED).unwrap_or(host)
}

/// A header with its length; the rest of the bytes is not sent.
pub(crate) struct EncodedHeader {
    bytes: [u8; size_of::<UdpV6>()],
    length: usize,
}

impl EncodedHeader {
    fn of<T: IntoBytes + Immutable>(header: &T) -> EncodedHeader {
        let mut bytes = [0; size_of::<UdpV6>()];
        // No header is longer.
        let _ = header.write_to_prefix(&mut bytes);
        EncodedHeader { bytes, length: size_of::<T>() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Reads an address as that of a family; zeros where it has another one.
fn fields<T: FromBytes>(address: &SocketAddress) -> T {
    T::read_from_prefix(address.bytes()).map_or_else(|_| T::new_zeroed(), |(fields, _)| fields)
}

/// The header of a UDP packet to `target`.
pub(crate) fn encode_udp(
    kind: PacketKind,
    queue_pair: u32,
    target: &SocketAddress,
) -> EncodedHeader {
    let start = |version, length: usize| UdpStart {
        tag: TAG.into(),
        version,
        kind: match kind {
            PacketKind::Data => DATA,
            PacketKind::Control => CONTROL,
        },
        length: length as u8,
        reserved: 0,
        queue_pair: (queue_pair & QUEUE_PAIR).into(),
    };
    if target.family() == AF_INET6 {
        let start = start(6, size_of::<UdpV6>());
        EncodedHeader::of(&UdpV6 { start, target: fields::<AddressV6>(target).address })
    } else {
        let start = start(4, size_of::<UdpV4>());
        EncodedHeader::of(&UdpV4 { start, target: fields::<AddressV4>(target).address })
    }
}

pub(crate) fn decode_udp(packet: &[u8]) -> Option<UdpHeader> {
    let (start, _) = UdpStart::ref_from_prefix(packet).ok()?;
    let length = match start.version {
        4 => size_of::<UdpV4>(),
        6 => size_of::<UdpV6>(),
        _ => return None,
    };
    let is_valid = start.tag.get() == TAG && usize::from(start.length) == length;
    if !is_valid || start.reserved != 0 || start.queue_pair.get() & !QUEUE_PAIR != 0 {
        return None;
    }
    let named = packet.get(size_of::<UdpStart>()..length)?;
    let mut host = [0; 16];
    host.get_mut(..named.len())?.copy_from_slice(named);
    let kind = match start.kind {
        DATA => PacketKind::Data,
        CONTROL => PacketKind::Control,
        _ => return None,
    };
    Some(UdpHeader { kind, queue_pair: start.queue_pair.get(), length, host })
}

/// The header of a datagram from `source`, in its slot.
pub(crate) fn encode_slot(source: &SocketAddress) -> EncodedHeader {
    if source.family() == AF_INET6 {
        let AddressV6 { port, flow_info, address, .. } = fields(source);
        let length = size_of::<SlotV6>() as u8;
        EncodedHeader::of(&SlotV6 { version: 6, length, port, flow_info, address })
    } else {
        let AddressV4 { port, address, .. } = fields(source);
        EncodedHeader::of(&SlotV4 { version: 4, length: size_of::<SlotV4>() as u8, port, address })
    }
}

/// The sender of a datagram and the length of its header.
pub(crate) fn decode_slot(slot: &[u8]) -> Option<(SocketAddress, usize)> {
    let family = |family: i32| (family as u16).to_ne_bytes();
    let (version, length) = (*slot.first()?, usize::from(*slot.get(1)?));
    let address = match version {
        4 if length == size_of::<SlotV4>() => {
            let (&SlotV4 { port, address, .. }, _) = SlotV4::ref_from_prefix(slot).ok()?;
            let address = AddressV4 { family: family(AF_INET), port, address, padding: [0; 8] };
            SocketAddress::from_bytes(address.as_bytes())?
        }
        6 if length == size_of::<SlotV6>() => {
            let (&SlotV6 { port, flow_info, address, .. }, _) =
                SlotV6::ref_from_prefix(slot).ok()?;
            let scope = [0; 4];
            let address = AddressV6 { family: family(AF_INET6), port, flow_info, address, scope };
            SocketAddress::from_bytes(address.as_bytes())?
        }
        _ => return None,
    };
    Some((address, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::random::Random;

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
            for kind in [PacketKind::Data, PacketKind::Control] {
                let encoded = encode_udp(kind, 0xFF12_3456, &target);
                let Some(header) = decode_udp(encoded.bytes()) else { unreachable!("it is one") };
                assert_eq!((header.kind, header.queue_pair), (kind, 0x12_3456));
                assert_eq!((header.length, header.host()), (length, target.host()));
                assert!(header.names(&target) && !header.names(&SocketAddress::any(family)));
                for short in 0..length {
                    assert_eq!(decode_udp(&encoded.bytes()[..short]), None);
                }
            }
        }
    }

    #[test]
    fn what_no_rsocket_sends_is_no_header() {
        let Some(target) = address(AF_INET) else { return };
        let encoded = encode_udp(PacketKind::Data, 5, &target);
        // The reserved byte, and the upper bits of the number.
        for index in [7, 8] {
            let mut bytes = encoded.bytes().to_vec();
            bytes[index] = 1;
            assert_eq!(decode_udp(&bytes), None);
        }
    }

    #[test]
    fn a_mapped_address_and_its_ipv4_address_name_each_other() {
        let mut host = [0; 16];
        host[10..].copy_from_slice(&[0xFF, 0xFF, 10, 9, 0, 1]);
        let [mapped, bare] = [(AF_INET6, &host[..]), (AF_INET, &host[12..])]
            .map(|(family, host)| SocketAddress::of_host(family, host));
        let (Some(mapped), Some(bare)) = (mapped, bare) else { unreachable!("both are") };
        for target in [mapped, bare] {
            let header = decode_udp(encode_udp(PacketKind::Data, 5, &target).bytes());
            assert!(header.is_some_and(|header| header.names(&mapped) && header.names(&bare)));
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
