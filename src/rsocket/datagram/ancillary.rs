// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Ancillary data of received datagrams: what the program asked for by IP_PKTINFO, IP_RECVTTL,
//! IP_RECVTOS, their IPv6 forms, SO_TIMESTAMP and SO_TIMESTAMPNS.
//!
//! With a packet of the UDP socket it comes from the kernel. For a datagram that came over the
//! device it is made here, in the same form: from the local address, the route header that the
//! device stores before the datagram, and the clock.
//!
//! # Safety
//! getifaddrs(3), and clock_gettime(2) into a live value.
#![allow(unsafe_code)]

use crate::types::SocketAddress;
use alloc::vec::Vec;
use base::errno::Result;
use base::memory::try_reserve;
use core::mem::{MaybeUninit, size_of};
use libc::{
    AF_INET, IP_PKTINFO, IP_RECVORIGDSTADDR, IP_RECVTOS, IP_RECVTTL, IP_TOS, IP_TTL, IPPROTO_IP,
    IPPROTO_IPV6, IPV6_HOPLIMIT, IPV6_PKTINFO, IPV6_RECVHOPLIMIT, IPV6_RECVPKTINFO,
    IPV6_RECVTCLASS, IPV6_TCLASS, SO_TIMESTAMP, SO_TIMESTAMPNS, SOL_SOCKET, c_int,
};

/// Bytes that the device stores before a datagram: a route header of InfiniBand, or that of IPv6,
/// or 20 bytes of nothing and a header of IPv4.
pub(super) const ROUTE_HEADER: usize = 40;
const IPV4_HEADER: usize = 20;
/// What the kernel sends with, where the header does not say.
const USUAL_HOPS: u8 = 64;

/// Options, each a bit.
const OPTIONS: [(c_int, c_int); 9] = [
    (SOL_SOCKET, SO_TIMESTAMP),
    (SOL_SOCKET, SO_TIMESTAMPNS),
    (IPPROTO_IP, IP_PKTINFO),
    (IPPROTO_IP, IP_RECVTTL),
    (IPPROTO_IP, IP_RECVTOS),
    (IPPROTO_IP, IP_RECVORIGDSTADDR),
    (IPPROTO_IPV6, IPV6_RECVPKTINFO),
    (IPPROTO_IPV6, IPV6_RECVHOPLIMIT),
    (IPPROTO_IPV6, IPV6_RECVTCLASS),
];

/// What the program asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted(u16);

impl Wanted {
    /// An option was set.
    pub(super) fn set(&mut self, level: c_int, name: c_int, on: bool) {
        if let Some(bit) = OPTIONS.iter().position(|option| *option == (level, name)) {
            let bit = 1 << bit;
            self.0 = if on { self.0 | bit } else { self.0 & !bit };
        }
    }

    pub(super) fn is_any(self) -> bool {
        self.0 != 0
    }

    /// Whether the interface of the local address is among it.
    pub(super) fn has_interface(self) -> bool {
        self.has(IPPROTO_IP, IP_PKTINFO) || self.has(IPPROTO_IPV6, IPV6_RECVPKTINFO)
    }

    fn has(self, level: c_int, name: c_int) -> bool {
        let bit = OPTIONS.iter().position(|option| *option == (level, name));
        bit.is_some_and(|bit| self.0 & 1 << bit != 0)
    }
}

/// Hop limit and traffic class of a route header.
fn hops_and_class(header: &[u8; ROUTE_HEADER]) -> (u8, u8) {
    if header[IPV4_HEADER] >> 4 == 4 {
        return (header[IPV4_HEADER + 8], header[IPV4_HEADER + 1]);
    }
    if header[0] >> 4 == 6 {
        return (header[7], header[0] << 4 | header[1] >> 4);
    }
    (USUAL_HOPS, 0)
}

/// Of a datagram that came over the device: control messages as recvmsg(2) stores them.
pub(super) fn of_device(
    wanted: Wanted,
    local: &SocketAddress,
    interface: u32,
    header: &[u8; ROUTE_HEADER],
) -> Result<Vec<u8>> {
    let mut made = Vec::new();
    let (hops, class) = hops_and_class(header);
    let now = now();
    if wanted.has(SOL_SOCKET, SO_TIMESTAMPNS) {
        let time = [now.tv_sec.to_ne_bytes(), now.tv_nsec.to_ne_bytes()];
        push(&mut made, SOL_SOCKET, SO_TIMESTAMPNS, time.as_flattened())?;
    } else if wanted.has(SOL_SOCKET, SO_TIMESTAMP) {
        let time = [now.tv_sec.to_ne_bytes(), (now.tv_nsec / 1000).to_ne_bytes()];
        push(&mut made, SOL_SOCKET, SO_TIMESTAMP, time.as_flattened())?;
    }
    if local.family() == AF_INET {
        let Some(host) = local.host().first_chunk::<4>() else { return Ok(made) };
        if wanted.has(IPPROTO_IP, IP_PKTINFO) {
            let info = [interface.to_ne_bytes(), *host, *host];
            push(&mut made, IPPROTO_IP, IP_PKTINFO, info.as_flattened())?;
        }
        // To an IPv6 socket, which has asked for its own kind.
        if wanted.has(IPPROTO_IPV6, IPV6_RECVPKTINFO) {
            push(&mut made, IPPROTO_IPV6, IPV6_PKTINFO, &ipv6_info(&local.mapped(), interface))?;
        }
        if wanted.has(IPPROTO_IP, IP_RECVTTL) {
            push(&mut made, IPPROTO_IP, IP_TTL, &c_int::from(hops).to_ne_bytes())?;
        }
        if wanted.has(IPPROTO_IP, IP_RECVTOS) {
            push(&mut made, IPPROTO_IP, IP_TOS, &[class])?;
        }
        if wanted.has(IPPROTO_IP, IP_RECVORIGDSTADDR) {
            push(&mut made, IPPROTO_IP, IP_RECVORIGDSTADDR, local.bytes())?;
        }
        return Ok(made);
    }
    if wanted.has(IPPROTO_IPV6, IPV6_RECVPKTINFO) {
        push(&mut made, IPPROTO_IPV6, IPV6_PKTINFO, &ipv6_info(local, interface))?;
    }
    if wanted.has(IPPROTO_IPV6, IPV6_RECVHOPLIMIT) {
        push(&mut made, IPPROTO_IPV6, IPV6_HOPLIMIT, &c_int::from(hops).to_ne_bytes())?;
    }
    if wanted.has(IPPROTO_IPV6, IPV6_RECVTCLASS) {
        push(&mut made, IPPROTO_IPV6, IPV6_TCLASS, &c_int::from(class).to_ne_bytes())?;
    }
    Ok(made)
}

/// `struct in6_pktinfo`.
fn ipv6_info(local: &SocketAddress, interface: u32) -> [u8; 20] {
    let mut info = [0; 20];
    info.iter_mut().zip(local.host()).for_each(|(place, byte)| *place = *byte);
    info[16..].copy_from_slice(&interface.to_ne_bytes());
    info
}

/// Control messages begin at multiples of this, after a header of length, level and type.
const ALIGNMENT: usize = size_of::<usize>();
const HEADER: usize = (size_of::<usize>() + 2 * size_of::<c_int>()).next_multiple_of(ALIGNMENT);

fn push(to: &mut Vec<u8>, level: c_int, kind: c_int, data: &[u8]) -> Result<()> {
    let length = HEADER + data.len();
    try_reserve(to, length.next_multiple_of(ALIGNMENT))?;
    to.extend_from_slice(&length.to_ne_bytes());
    to.extend_from_slice(&level.to_ne_bytes());
    to.extend_from_slice(&kind.to_ne_bytes());
    to.extend_from_slice(data);
    to.resize(to.len().next_multiple_of(ALIGNMENT), 0);
    Ok(())
}

/// How many bytes of control messages there is room for: whole ones, the last without its padding.
pub(crate) fn fitting(control: &[u8], room: usize) -> usize {
    let mut end = 0;
    while let Some(length) = control.get(end..).and_then(|rest| rest.first_chunk()) {
        let length = usize::from_ne_bytes(*length);
        if length < HEADER || end + length > room || end + length > control.len() {
            break;
        }
        let next = (end + length).next_multiple_of(ALIGNMENT);
        if next > room || next >= control.len() {
            return end + length;
        }
        end = next;
    }
    end
}

fn now() -> libc::timespec {
    let mut now = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: a live value, which is integers.
    unsafe {
        libc::clock_gettime(libc::CLOCK_REALTIME, now.as_mut_ptr());
        now.assume_init()
    }
}

/// The index of the interface that has an address; 0 for none.
pub(super) fn interface_of(local: &SocketAddress) -> u32 {
    let mut list = core::ptr::null_mut();
    // SAFETY: a list of the C library's, with valid addresses and names, freed below.
    unsafe {
        if libc::getifaddrs(&raw mut list) != 0 {
            return 0;
        }
        let (mut next, mut found) = (list, 0);
        while let Some(entry) = next.as_ref() {
            next = entry.ifa_next;
            let address = SocketAddress::read(entry.ifa_addr);
            if found == 0 && address.is_ok_and(|address| address.host() == local.host()) {
                found = libc::if_nametoindex(entry.ifa_name);
            }
        }
        libc::freeifaddrs(list);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Wanted {
        let mut wanted = Wanted::default();
        OPTIONS.iter().for_each(|(level, name)| wanted.set(*level, *name, true));
        wanted
    }

    fn local() -> SocketAddress {
        SocketAddress::of_host(AF_INET, &[10, 9, 0, 1]).unwrap_or_else(|| unreachable!("IPv4"))
    }

    #[test]
    fn options_are_set_and_cleared() {
        let mut wanted = Wanted::default();
        wanted.set(IPPROTO_IP, libc::IP_TTL, true);
        assert!(!wanted.is_any());
        wanted.set(IPPROTO_IP, IP_PKTINFO, true);
        wanted.set(SOL_SOCKET, SO_TIMESTAMP, true);
        assert!(wanted.is_any() && wanted.has_interface());
        wanted.set(IPPROTO_IP, IP_PKTINFO, false);
        assert!(wanted.is_any() && !wanted.has_interface());
    }

    #[test]
    fn the_header_has_hops_and_class() {
        let mut header = [0; ROUTE_HEADER];
        assert_eq!(hops_and_class(&header), (USUAL_HOPS, 0));
        (header[20], header[21], header[28]) = (0x45, 0x10, 7);
        assert_eq!(hops_and_class(&header), (7, 0x10));
        header = [0; ROUTE_HEADER];
        (header[0], header[1], header[7]) = (0x61, 0x20, 9);
        assert_eq!(hops_and_class(&header), (9, 0x12));
    }

    #[test]
    fn messages_are_cut_where_one_does_not_fit() {
        let made = of_device(all(), &local(), 3, &[0; ROUTE_HEADER]).unwrap_or_default();
        // Time 16 + 16, address 16 + 12 and 16 + 20, hops 16 + 4, class 16 + 1, original address.
        assert_eq!(fitting(&made, made.len()), made.len());
        assert_eq!(fitting(&made, 31), 0);
        assert_eq!(fitting(&made, 32), 32);
        assert_eq!(fitting(&made, 32 + 28), 32 + 28);
        assert_eq!(fitting(&made, 32 + 32 + 35), 32 + 28 + 4);
        assert_eq!(fitting(&made, 32 + 32 + 36), 32 + 32 + 36);
        assert_eq!(fitting(&made, 32 + 32 + 40 + 20), 32 + 32 + 40 + 20);
        assert_eq!(fitting(&[], 100), 0);
        assert_eq!(fitting(&[1; 40], 100), 0);
    }
}
