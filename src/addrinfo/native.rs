//! Native InfiniBand addresses (`struct sockaddr_ib`).

use crate::types::{AF_IB, SocketAddress};
use libc::{AF_INET6, c_int};

/// Bits of a service id that name the port space, and the port in it.
const PORT_SPACE_MASK: u64 = 0xFFFF_FFFF_FFFF_0000;
const PORT_MASK: u64 = 0xFFFF;

const DEFAULT_PKEY: u16 = 0xFFFF;

/// The fields of a native address; numbers in the order of this machine.
#[derive(Clone, Copy, Default)]
pub(super) struct Native {
    pub(super) pkey: u16,
    pub(super) flow_label: u32,
    pub(super) gid: [u8; 16],
    pub(super) service: Service,
    /// As stored: the C library does not convert it.
    pub(super) scope: u64,
}

/// A service id and which of its bits count.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Service {
    pub(super) id: u64,
    pub(super) mask: u64,
}

impl Service {
    /// The service of a port; port 0 leaves the port open, port space 0 both.
    pub(super) fn of_port(port_space: c_int, port: u16) -> Service {
        let space = if port_space == 0 { 0 } else { PORT_SPACE_MASK };
        let port_bits = if port == 0 { 0 } else { PORT_MASK };
        Service {
            id: (u64::from(port_space as u32) << 16) + u64::from(port),
            mask: space | port_bits,
        }
    }
}

impl Native {
    pub(super) fn address(&self) -> Option<SocketAddress> {
        let mut bytes = [0; 48];
        bytes[..2].copy_from_slice(&(AF_IB as u16).to_ne_bytes());
        bytes[2..4].copy_from_slice(&self.pkey.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.flow_label.to_be_bytes());
        bytes[8..24].copy_from_slice(&self.gid);
        bytes[24..32].copy_from_slice(&self.service.id.to_be_bytes());
        bytes[32..40].copy_from_slice(&self.service.mask.to_be_bytes());
        bytes[40..].copy_from_slice(&self.scope.to_ne_bytes());
        SocketAddress::from_bytes(&bytes)
    }
}

/// Reads an IPv6 address as a GID with a port.
pub(super) fn from_ipv6(address: &SocketAddress, port_space: c_int) -> Option<SocketAddress> {
    if address.family() != AF_INET6 {
        return None;
    }
    let bytes = address.bytes();
    let field = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    Native {
        pkey: DEFAULT_PKEY,
        flow_label: u32::from_be(field(4)?),
        gid: bytes.get(8..24)?.try_into().ok()?,
        service: Service::of_port(port_space, address.port()),
        scope: u64::from(field(24)?),
    }
    .address()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_parts_of_a_service_are_not_in_its_mask() {
        for (port_space, port, id, mask) in [
            (0x0106, 7471, 0x0106_1D2F, u64::MAX),
            (0x013F, 0, 0x013F_0000, PORT_SPACE_MASK),
            (0, 7, 7, PORT_MASK),
            (0, 0, 0, 0),
        ] {
            assert_eq!(Service::of_port(port_space, port), Service { id, mask });
        }
    }

    #[test]
    fn an_ipv6_address_is_taken_as_a_gid() {
        let mut bytes = [0_u8; 28];
        bytes[..2].copy_from_slice(&(AF_INET6 as u16).to_ne_bytes());
        bytes[2..4].copy_from_slice(&7471_u16.to_be_bytes());
        bytes[4..8].copy_from_slice(&0x000A_BCDE_u32.to_be_bytes());
        bytes[8] = 0xFE;
        bytes[23] = 1;
        bytes[24..].copy_from_slice(&3_u32.to_ne_bytes());
        let native =
            SocketAddress::from_bytes(&bytes).and_then(|address| from_ipv6(&address, 0x0106));
        let mut expected = [0_u8; 48];
        expected[..2].copy_from_slice(&27_u16.to_ne_bytes());
        expected[2..4].copy_from_slice(&[0xFF, 0xFF]);
        expected[4..8].copy_from_slice(&[0x00, 0x0A, 0xBC, 0xDE]);
        expected[8] = 0xFE;
        expected[23] = 1;
        expected[24..32].copy_from_slice(&[0, 0, 0, 0, 1, 6, 0x1D, 0x2F]);
        expected[32..40].copy_from_slice(&[0xFF; 8]);
        expected[40..].copy_from_slice(&3_u64.to_ne_bytes());
        assert_eq!(native.as_ref().map(SocketAddress::bytes), Some(&expected[..]));
    }

    #[test]
    fn other_families_are_no_gids() {
        let mut bytes = [0_u8; 16];
        bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        let address = SocketAddress::from_bytes(&bytes);
        assert!(address.is_some_and(|address| from_ipv6(&address, 0x0106).is_none()));
    }
}
