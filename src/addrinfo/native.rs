// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Native InfiniBand addresses (`struct sockaddr_ib`).

use crate::types::{AF_IB, SocketAddress, ib_addr, sockaddr_ib};
use libc::c_int;

/// Bits of a service id for the port space, and for the port.
const PORT_SPACE_MASK: u64 = 0xFFFF_FFFF_FFFF_0000;
const PORT_MASK: u64 = 0xFFFF;

const DEFAULT_PKEY: u16 = 0xFFFF;

/// The fields of a native address; numbers in the order of this machine.
#[derive(Clone, Copy, Default)]
pub(crate) struct NativeAddress {
    pub(crate) pkey: u16,
    pub(crate) flow_label: u32,
    pub(crate) gid: [u8; 16],
    pub(crate) service: ServiceId,
    /// In host order, as the C library stores it.
    pub(crate) scope: u64,
}

/// A service id and which of its bits count.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct ServiceId {
    pub(crate) id: u64,
    pub(crate) mask: u64,
}

impl ServiceId {
    /// The service of a port; port 0 leaves the port open, port space 0 both.
    pub(crate) fn of_port(port_space: c_int, port: u16) -> ServiceId {
        let space = if port_space == 0 { 0 } else { PORT_SPACE_MASK };
        let port_bits = if port == 0 { 0 } else { PORT_MASK };
        ServiceId {
            id: (u64::from(port_space as u32) << 16) + u64::from(port),
            mask: space | port_bits,
        }
    }
}

impl NativeAddress {
    pub(crate) fn address(&self) -> SocketAddress {
        SocketAddress::of_ib(&sockaddr_ib {
            sib_family: AF_IB as u16,
            sib_pkey: self.pkey.to_be(),
            sib_flowinfo: self.flow_label.to_be(),
            sib_addr: ib_addr { sib_raw: self.gid },
            sib_sid: self.service.id.to_be(),
            sib_sid_mask: self.service.mask.to_be(),
            sib_scope_id: self.scope,
        })
    }
}

/// Reads an IPv6 address as a GID with a port.
pub(super) fn from_ipv6(address: &SocketAddress, port_space: c_int) -> Option<SocketAddress> {
    let ipv6 = address.as_ipv6()?;
    let native = NativeAddress {
        pkey: DEFAULT_PKEY,
        flow_label: u32::from_be(ipv6.sin6_flowinfo),
        gid: ipv6.sin6_addr.s6_addr,
        service: ServiceId::of_port(port_space, address.port()),
        scope: u64::from(ipv6.sin6_scope_id),
    };
    Some(native.address())
}

#[cfg(test)]
mod tests {
    use super::*;
    use libc::AF_INET6;

    #[test]
    fn open_parts_of_a_service_are_not_in_its_mask() {
        for (port_space, port, id, mask) in [
            (0x0106, 7471, 0x0106_1D2F, u64::MAX),
            (0x013F, 0, 0x013F_0000, PORT_SPACE_MASK),
            (0, 7, 7, PORT_MASK),
            (0, 0, 0, 0),
        ] {
            assert_eq!(ServiceId::of_port(port_space, port), ServiceId { id, mask });
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
