// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Socket addresses of C, and the addresses of this machine's interfaces.
//!
//! # Safety
//! Reads and writes socket addresses of the families that it checks for, and the list of getifaddrs.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

/// As C has it.
pub(crate) struct RawAddress {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
}

impl RawAddress {
    pub(crate) fn of(address: SocketAddr) -> RawAddress {
        // SAFETY: integers: valid when zero.
        let mut storage: libc::sockaddr_storage = unsafe { MaybeUninit::zeroed().assume_init() };
        let start = &raw mut storage;
        let length = match address {
            SocketAddr::V4(address) => {
                let raw = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: address.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
                    sin_zero: [0; 8],
                };
                // SAFETY: the storage has room for every family.
                unsafe { start.cast::<libc::sockaddr_in>().write(raw) };
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(address) => {
                let raw = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: address.port().to_be(),
                    sin6_flowinfo: address.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                    sin6_scope_id: address.scope_id(),
                };
                // SAFETY: as above.
                unsafe { start.cast::<libc::sockaddr_in6>().write(raw) };
                size_of::<libc::sockaddr_in6>()
            }
        };
        RawAddress { storage, length: length as libc::socklen_t }
    }

    pub(crate) fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }

    pub(crate) fn length(&self) -> libc::socklen_t {
        self.length
    }
}

/// The IP address in a socket address; None for other families.
pub(crate) fn ip_of(storage: &libc::sockaddr_storage) -> Option<IpAddr> {
    let start: *const libc::sockaddr_storage = storage;
    match i32::from(storage.ss_family) {
        // SAFETY: of that family, inside the storage.
        libc::AF_INET => Some(IpAddr::V4(Ipv4Addr::from(u32::from_be(unsafe {
            (*start.cast::<libc::sockaddr_in>()).sin_addr.s_addr
        })))),
        libc::AF_INET6 => Some(IpAddr::V6(Ipv6Addr::from(
            // SAFETY: as above.
            unsafe { (*start.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr },
        ))),
        _ => None,
    }
}

/// The addresses of the interfaces: (interface, address). One that is down has its addresses, too.
pub(crate) fn interfaces() -> Vec<(String, IpAddr)> {
    let mut found = Vec::new();
    let mut list = std::ptr::null_mut();
    // SAFETY: a place for the list, which is walked before it is freed; addresses have their family's
    // length.
    unsafe {
        if libc::getifaddrs(&raw mut list) != 0 {
            return found;
        }
        let mut next: *mut libc::ifaddrs = list;
        while let Some(entry) = next.as_ref() {
            next = entry.ifa_next;
            if entry.ifa_addr.is_null() {
                continue;
            }
            let mut storage: libc::sockaddr_storage = MaybeUninit::zeroed().assume_init();
            let length = match i32::from((*entry.ifa_addr).sa_family) {
                libc::AF_INET => size_of::<libc::sockaddr_in>(),
                libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
                _ => continue,
            };
            std::ptr::copy_nonoverlapping(
                entry.ifa_addr.cast::<u8>(),
                (&raw mut storage).cast(),
                length,
            );
            if let Some(address) = ip_of(&storage) {
                let name = CStr::from_ptr(entry.ifa_name).to_string_lossy().into_owned();
                found.push((name, address));
            }
        }
        libc::freeifaddrs(list);
    }
    found
}

/// Name of an interface by its number.
pub(crate) fn interface_name(index: u32) -> Option<String> {
    let mut name = [0; libc::IF_NAMESIZE];
    // SAFETY: room for a name.
    unsafe {
        if index == 0 || libc::if_indextoname(index, name.as_mut_ptr()).is_null() {
            return None;
        }
        Some(CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned())
    }
}

/// The IP address that a GID of RoCE stands for.
pub(crate) fn ip_of_gid(gid: [u8; 16]) -> IpAddr {
    let address = Ipv6Addr::from(gid);
    address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
}

/// An address or a name, with the given port.
pub(crate) fn resolve(text: &str, port: u16) -> Result<SocketAddr, String> {
    let mut found = (text, port).to_socket_addrs().map_err(|error| format!("{text}: {error}"))?;
    found.next().ok_or_else(|| format!("{text}: no address"))
}

/// Which local address the kernel's routing takes to an address, by a UDP socket that sends nothing.
pub(crate) fn source_to(destination: SocketAddr) -> Result<IpAddr, std::io::Error> {
    let any: SocketAddr = match destination {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect(destination)?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_to_c_and_back() {
        for text in ["10.1.2.3:7471", "[fd00::5]:1"] {
            let address = text.parse::<SocketAddr>().map(RawAddress::of);
            assert_eq!(
                address.ok().and_then(|raw| ip_of(&raw.storage)),
                text.parse::<SocketAddr>().ok().map(|address| address.ip())
            );
        }
        assert!(resolve("127.0.0.1", 7).is_ok() && resolve("no such name", 7).is_err());
        assert!(interfaces().iter().any(|(_, address)| address.is_loopback()));
    }

    #[test]
    fn gids_are_addresses() {
        let mut gid = [0; 16];
        gid[10..].copy_from_slice(&[0xFF, 0xFF, 10, 0, 0, 1]);
        assert_eq!(ip_of_gid(gid).to_string(), "10.0.0.1");
        gid[0] = 0xFE;
        assert!(ip_of_gid(gid).is_ipv6());
    }
}
