// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! IPv4 and IPv6 socket addresses as values.
//!
//! # Safety
//! Reads and writes sockaddr structures through the caller's pointers and lengths.
#![allow(unsafe_code)]

use base::address::{RawAddress, family_of};
use base::errno::{Errno, Result};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use libc::{
    AF_INET, AF_INET6, c_int, in_addr, in6_addr, sa_family_t, sockaddr, sockaddr_in, sockaddr_in6,
    socklen_t,
};

/// The bytes of `Address::to_bytes`: family, port, host, scope.
pub(crate) const ADDRESS_SIZE: usize = 1 + 2 + 16 + 4;
const VERSION_4: u8 = 4;
const VERSION_6: u8 = 6;

/// An address of one of the two families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: IpAddr,
    pub(crate) port: u16,
    scope: u32,
}

/// Whether an address can be stored there, if one is asked for.
///
/// # Safety
/// `length` is NULL or readable.
pub(crate) unsafe fn check_room(address: *const sockaddr, length: *const socklen_t) -> Result<()> {
    if address.is_null() {
        return Ok(());
    }
    // SAFETY: by contract.
    match unsafe { length.as_ref() } {
        None => Err(Errno::EFAULT),
        Some(room) if *room > c_int::MAX as socklen_t => Err(Errno::EINVAL),
        Some(_) => Ok(()),
    }
}

impl Address {
    /// None for other families, and if the length is too short for the family.
    ///
    /// # Safety
    /// `address` is NULL or readable for `length` bytes.
    pub(crate) unsafe fn read(address: *const sockaddr, length: socklen_t) -> Option<Address> {
        // SAFETY: by contract.
        let raw = unsafe {
            family_of(address, length as usize)?;
            RawAddress::copy(address, length as usize)
        };
        Address::of_raw(&raw)
    }

    /// As `read`; UDP takes an IPv4 address also where it is written as one of no family.
    ///
    /// # Safety
    /// As `read`.
    pub(crate) unsafe fn read_destination(
        address: *const sockaddr,
        length: socklen_t,
    ) -> Option<Address> {
        // SAFETY: by contract.
        unsafe {
            let family = family_of(address, length as usize)?;
            let is_whole = length as usize >= size_of::<sockaddr_in>();
            if family != libc::AF_UNSPEC || !is_whole {
                return Address::read(address, length);
            }
            let mut written = address.cast::<sockaddr_in>().read_unaligned();
            written.sin_family = AF_INET as sa_family_t;
            Address::of_raw(&RawAddress::from(written))
        }
    }

    fn of_raw(raw: &RawAddress) -> Option<Address> {
        if let Some(raw) = raw.as_ipv4() {
            let host = Ipv4Addr::from(u32::from_be(raw.sin_addr.s_addr));
            return Some(Address::new(host.into(), u16::from_be(raw.sin_port)));
        }
        let raw = raw.as_ipv6()?;
        let host = Ipv6Addr::from(raw.sin6_addr.s6_addr);
        let port = u16::from_be(raw.sin6_port);
        Some(Address { host: host.into(), port, scope: raw.sin6_scope_id })
    }

    pub(crate) fn new(host: IpAddr, port: u16) -> Address {
        Address { host, port, scope: 0 }
    }

    pub(crate) fn any(family: c_int, port: u16) -> Address {
        let host = match family {
            AF_INET => Ipv4Addr::UNSPECIFIED.into(),
            _ => Ipv6Addr::UNSPECIFIED.into(),
        };
        Address::new(host, port)
    }

    /// What one of the calls getsockname(2), getpeername(2) stores.
    pub(crate) fn asked(
        call: impl FnOnce(*mut sockaddr, *mut socklen_t) -> c_int,
    ) -> Option<Address> {
        Address::of_raw(&RawAddress::filled_by(call).ok()?)
    }

    pub(crate) fn family(&self) -> c_int {
        if self.host.is_ipv4() { AF_INET } else { AF_INET6 }
    }

    pub(crate) fn is_wildcard(&self) -> bool {
        self.unmapped().host.is_unspecified()
    }

    pub(crate) fn is_loopback(&self) -> bool {
        self.unmapped().host.is_loopback()
    }

    pub(crate) fn is_multicast(&self) -> bool {
        match self.unmapped().host {
            IpAddr::V4(host) => host.is_multicast() || host.is_broadcast(),
            IpAddr::V6(host) => host.is_multicast(),
        }
    }

    pub(crate) fn with_port(&self, port: u16) -> Address {
        Address { port, ..*self }
    }

    /// An IPv4 address where it was written as an IPv6 one.
    pub(crate) fn unmapped(&self) -> Address {
        match self.host {
            IpAddr::V6(host) => match host.to_ipv4_mapped() {
                Some(host) => Address::new(host.into(), self.port),
                None => *self,
            },
            IpAddr::V4(_) => *self,
        }
    }

    /// As a socket of that family sees it.
    pub(crate) fn in_family(&self, family: c_int) -> Address {
        match self.host {
            IpAddr::V4(host) if family == AF_INET6 => {
                Address::new(host.to_ipv6_mapped().into(), self.port)
            }
            _ => *self,
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; ADDRESS_SIZE] {
        let (version, host) = match self.host {
            IpAddr::V4(host) => (VERSION_4, host.to_ipv6_mapped()),
            IpAddr::V6(host) => (VERSION_6, host),
        };
        let mut bytes = [0; ADDRESS_SIZE];
        bytes[0] = version;
        bytes[1..3].copy_from_slice(&self.port.to_be_bytes());
        bytes[3..19].copy_from_slice(&host.octets());
        bytes[19..].copy_from_slice(&self.scope.to_be_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; ADDRESS_SIZE]) -> Option<Address> {
        let [version, port @ .., _, _, _, _] = bytes;
        let host = Ipv6Addr::from(*port.get(2..)?.first_chunk::<16>()?);
        let host = match *version {
            VERSION_4 => host.to_ipv4_mapped()?.into(),
            VERSION_6 => host.into(),
            _ => return None,
        };
        let port = u16::from_be_bytes(*port.first_chunk()?);
        let scope = u32::from_be_bytes(*bytes.last_chunk()?);
        Some(Address { host, port, scope })
    }

    fn raw(&self) -> RawAddress {
        match self.host {
            IpAddr::V4(host) => RawAddress::from(sockaddr_in {
                sin_family: AF_INET as sa_family_t,
                sin_port: self.port.to_be(),
                sin_addr: in_addr { s_addr: u32::from(host).to_be() },
                sin_zero: [0; 8],
            }),
            IpAddr::V6(host) => RawAddress::from(sockaddr_in6 {
                sin6_family: AF_INET6 as sa_family_t,
                sin6_port: self.port.to_be(),
                sin6_flowinfo: 0,
                sin6_addr: in6_addr { s6_addr: host.octets() },
                sin6_scope_id: self.scope,
            }),
        }
    }

    /// Calls with the address in C's form.
    pub(crate) fn with_raw<R>(&self, call: impl FnOnce(*const sockaddr, socklen_t) -> R) -> R {
        let raw = self.raw();
        call(raw.as_ptr(), raw.length() as socklen_t)
    }

    /// Stores it as accept(2) does: cut to the room there is, with the whole length.
    ///
    /// # Safety
    /// Both NULL, or a length and a place for as many bytes.
    pub(crate) unsafe fn store(&self, to: *mut sockaddr, length: *mut socklen_t) {
        // SAFETY: by contract.
        unsafe { self.raw().store(to, length) };
    }
}
