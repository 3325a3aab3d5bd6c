// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Socket addresses of the families that RDMA knows.
//!
//! # Safety
//! Reads raw memory through pointers of the caller; see "valid sockaddr" in lib.rs.
#![allow(unsafe_code)]

use base::address::{RawAddress, StorageBytes, family_of};
use base::errno::{Errno, Result};
use base::fail;
use core::mem::{offset_of, size_of};
use core::net::{Ipv4Addr, Ipv6Addr};
use core::ops::Range;
use libc::{AF_INET, AF_INET6, c_int, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Address family of native InfiniBand addresses.
pub const AF_IB: c_int = 27;

/// A GID as `struct sockaddr_ib` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[allow(non_camel_case_types)]
pub struct ib_addr {
    /// The sixteen bytes in network order.
    pub sib_raw: [u8; 16],
}

/// `struct sockaddr_ib` of `<infiniband/ib.h>`; multi-byte fields are big endian but for the family
/// and the scope.
#[repr(C)]
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[allow(non_camel_case_types, missing_docs)]
pub struct sockaddr_ib {
    pub sib_family: u16,
    pub sib_pkey: u16,
    pub sib_flowinfo: u32,
    pub sib_addr: ib_addr,
    pub sib_sid: u64,
    pub sib_sid_mask: u64,
    pub sib_scope_id: u64,
}

const _: () = assert!(size_of::<sockaddr_ib>() == 48);

/// How an IPv4 address begins where an IPv6 socket names it.
pub(crate) const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF];

/// A socket address of a family that RDMA knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SocketAddress(RawAddress);

impl SocketAddress {
    /// Copies `*address`, whose length follows from its family, as in the calls of the C library
    /// that take no length.
    ///
    /// # Safety
    /// `address` is NULL or a valid sockaddr.
    pub(crate) unsafe fn read(address: *const sockaddr) -> Result<SocketAddress> {
        // SAFETY: NULL, or a valid sockaddr, which has a family.
        let family =
            unsafe { family_of(address, size_of::<libc::sa_family_t>()) }.ok_or_else(no_address)?;
        let length = length_of(family).ok_or_else(|| unknown_family(family))?;
        // SAFETY: valid sockaddr, so `length` bytes are readable.
        Ok(SocketAddress(unsafe { RawAddress::copy(address, length) }))
    }

    /// Copies `*address` after checking `given`, the length that the caller says it has.
    ///
    /// # Safety
    /// `address` is NULL or points to `given` readable bytes.
    pub(crate) unsafe fn read_sized(
        address: *const sockaddr,
        given: usize,
    ) -> Result<SocketAddress> {
        // SAFETY: by contract.
        let family = unsafe { family_of(address, given) }.ok_or_else(no_address)?;
        let length = length_of(family).ok_or_else(|| unknown_family(family))?;
        if given < length {
            return Err(fail!(
                EINVAL,
                "an address of family {family} has {length} bytes, not {given}"
            ));
        }
        // SAFETY: `length` is at most `given`.
        Ok(SocketAddress(unsafe { RawAddress::copy(address, length) }))
    }

    /// Reads the first `length` bytes of a kernel answer; `None` when family and length do not fit.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<SocketAddress> {
        SocketAddress::in_bytes(bytes).map(|address| SocketAddress(RawAddress::of_bytes(address)))
    }

    /// As `from_bytes`, without a copy: the part of `bytes` that is an address.
    pub(crate) fn in_bytes(bytes: &[u8]) -> Option<&[u8]> {
        let family = u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]);
        bytes.get(..length_of(c_int::from(family))?)
    }

    /// An IP address with port 0, from the first bytes of `host`; `None` where it has too few.
    pub(crate) fn of_host(family: c_int, host: &[u8]) -> Option<SocketAddress> {
        let mut address = SocketAddress::any(family);
        let range = host_range(address.family());
        let bytes = host.get(..range.len())?;
        address.0.bytes_mut().get_mut(range)?.copy_from_slice(bytes);
        Some(address)
    }

    /// A native InfiniBand address.
    pub(crate) fn of_ib(address: &sockaddr_ib) -> SocketAddress {
        SocketAddress(RawAddress::of_bytes(address.as_bytes()))
    }

    /// The fields of a native InfiniBand address.
    pub(crate) fn as_ib(&self) -> Option<&sockaddr_ib> {
        sockaddr_ib::ref_from_bytes(self.bytes()).ok().filter(|_| self.is_ib())
    }

    /// The fields of an IPv6 address.
    pub(crate) fn as_ipv6(&self) -> Option<&sockaddr_in6> {
        self.0.as_ipv6()
    }

    /// The wildcard address of a family, with port 0; of IPv4 where the family is unknown.
    pub(crate) fn any(family: c_int) -> SocketAddress {
        let (family, length) = match length_of(family) {
            Some(length) => (family, length),
            None => (AF_INET, size_of::<sockaddr_in>()),
        };
        SocketAddress(RawAddress::blank(family, length))
    }

    /// The same address with another port; native InfiniBand addresses stay as they are.
    pub(crate) fn with_port(&self, port: u16) -> SocketAddress {
        let mut changed = *self;
        if matches!(self.family(), AF_INET | AF_INET6) {
            if let Some(place) = changed.0.bytes_mut().get_mut(PORT) {
                place.copy_from_slice(&port.to_be_bytes());
            }
        }
        changed
    }

    /// Same address and scope, with any port.
    pub(crate) fn is_same_host(&self, other: &SocketAddress) -> bool {
        self.with_port(0).is_same(&other.with_port(0))
    }

    /// The IPv4 address that an IPv4-mapped IPv6 address stands for; others stay as they are.
    pub(crate) fn unmapped(&self) -> SocketAddress {
        match self.host().strip_prefix(&MAPPED) {
            Some(host) if self.family() == AF_INET6 => SocketAddress::of_host(AF_INET, host)
                .map_or(*self, |address| address.with_port(self.port())),
            _ => *self,
        }
    }

    /// As an IPv6 socket names it: an IPv4 address becomes an IPv4-mapped one.
    pub(crate) fn mapped(&self) -> SocketAddress {
        let mut mapped = SocketAddress::any(AF_INET6).with_port(self.port());
        let host = [&MAPPED[..], self.host()];
        match mapped.0.bytes_mut().get_mut(host_range(AF_INET6)) {
            Some(place) if self.family() == AF_INET => {
                place
                    .iter_mut()
                    .zip(host.iter().copied().flatten())
                    .for_each(|(to, byte)| *to = *byte);
                mapped
            }
            _ => *self,
        }
    }

    /// Whether it is the wildcard address.
    pub(crate) fn is_wildcard(&self) -> bool {
        self.host().iter().all(|byte| *byte == 0)
    }

    pub(crate) fn family(&self) -> c_int {
        self.0.family()
    }

    /// In the order of this machine.
    pub(crate) fn port(&self) -> u16 {
        u16::from_be(port_of(self.0.storage()))
    }

    pub(crate) fn length(&self) -> usize {
        self.0.length()
    }

    pub(crate) fn as_ptr(&self) -> *const sockaddr {
        self.0.as_ptr()
    }

    /// The bytes of the address, with zeros behind it.
    pub(crate) fn storage_bytes(&self) -> &StorageBytes {
        self.0.storage_bytes()
    }

    /// The bytes of the address, without the padding behind it.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The address proper: an IPv4 or IPv6 address, or a GID.
    pub(crate) fn host(&self) -> &[u8] {
        self.bytes().get(host_range(self.family())).unwrap_or_default()
    }

    /// Same family, address, port and scope; flow labels and padding do not count.
    pub(crate) fn is_same(&self, other: &SocketAddress) -> bool {
        if self.family() != other.family() {
            return false;
        }
        let (mine, theirs) = (self.bytes(), other.bytes());
        match self.family() {
            // Family, port, address; then eight bytes of padding.
            AF_INET => mine[..8] == theirs[..8],
            // Family, port; flow label; address, scope.
            AF_INET6 => mine[..4] == theirs[..4] && mine[8..] == theirs[8..],
            _ => mine == theirs,
        }
    }

    pub(crate) fn is_ib(&self) -> bool {
        self.family() == AF_IB
    }
}

#[cold]
#[inline(never)]
fn no_address() -> Errno {
    fail!(EINVAL, "the address is NULL, or too short for a family")
}

#[cold]
#[inline(never)]
fn unknown_family(family: c_int) -> Errno {
    fail!(EINVAL, "{family} is no address family of RDMA: AF_INET, AF_INET6 or AF_IB")
}

impl core::fmt::Debug for SocketAddress {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "family {} {:?} port {}", self.family(), self.host(), self.port())
    }
}

/// As tools write it: `10.0.0.1:7471`, `[fe80::1]:7471`; a GID for native InfiniBand addresses.
impl core::fmt::Display for SocketAddress {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let port = self.port();
        if let Ok(host) = <[u8; 4]>::try_from(self.host()) {
            return write!(f, "{}:{port}", Ipv4Addr::from(host));
        }
        match <[u8; 16]>::try_from(self.host()) {
            Ok(host) if self.is_ib() => write!(f, "gid {}:{port}", Ipv6Addr::from(host)),
            Ok(host) => write!(f, "[{}]:{port}", Ipv6Addr::from(host)),
            Err(_) => write!(f, "family {}", self.family()),
        }
    }
}

/// Where a port lies in an IP address.
const PORT: Range<usize> = 2..4;

/// Where the address proper lies. GIDs stand where IPv6 addresses do.
fn host_range(family: c_int) -> Range<usize> {
    if family == AF_INET { 4..8 } else { 8..24 }
}

fn length_of(family: c_int) -> Option<usize> {
    match family {
        AF_INET => Some(size_of::<sockaddr_in>()),
        AF_INET6 => Some(size_of::<sockaddr_in6>()),
        AF_IB => Some(size_of::<sockaddr_ib>()),
        _ => None,
    }
}

/// The port (big endian, as stored) of an address; for AF_IB the low 16 bits of the service id
/// where its mask covers them.
pub(crate) fn port_of(storage: &sockaddr_storage) -> u16 {
    let from: *const sockaddr_storage = storage;
    // SAFETY: sockaddr_storage is larger than, and as aligned as, each of the three.
    unsafe {
        match c_int::from(storage.ss_family) {
            AF_INET => (*from.cast::<sockaddr_in>()).sin_port,
            AF_INET6 => (*from.cast::<sockaddr_in6>()).sin6_port,
            AF_IB => {
                let ib = &*from.cast::<sockaddr_ib>();
                let sid = u64::from_be(ib.sib_sid);
                let mask = u64::from_be(ib.sib_sid_mask);
                ((sid & mask) as u16).to_be()
            }
            _ => 0,
        }
    }
}

const _: () = {
    assert!(offset_of!(sockaddr_in, sin_port) == PORT.start);
    assert!(offset_of!(sockaddr_in6, sin6_port) == PORT.start);
    assert!(offset_of!(sockaddr_in, sin_addr) == 4 && offset_of!(sockaddr_in6, sin6_addr) == 8);
    assert!(offset_of!(sockaddr_ib, sib_addr) == 8);
    assert!(align_of::<sockaddr_storage>() >= align_of::<sockaddr_ib>());
};

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(port: u16) -> sockaddr_in {
        sockaddr_in {
            sin_family: AF_INET as u16,
            sin_port: port.to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from_be_bytes([10, 9, 0, 1]).to_be() },
            sin_zero: [0; 8],
        }
    }

    #[test]
    fn null_short_and_unknown_addresses_are_refused() {
        let address = ipv4(7);
        let raw: *const sockaddr = (&raw const address).cast();
        // SAFETY: valid addresses of the given lengths.
        unsafe {
            assert_eq!(SocketAddress::read(core::ptr::null()).err(), Some(Errno::EINVAL));
            assert_eq!(SocketAddress::read_sized(raw, 15).err(), Some(Errno::EINVAL));
            assert_eq!(SocketAddress::read_sized(raw, 1).err(), Some(Errno::EINVAL));
            assert!(SocketAddress::read_sized(raw, 16).is_ok());
        }
        let unknown = sockaddr { sa_family: libc::AF_UNIX as u16, sa_data: [0; 14] };
        // SAFETY: a valid sockaddr.
        let result = unsafe { SocketAddress::read(&unknown) };
        assert_eq!(result.err(), Some(Errno::EINVAL));
    }

    #[test]
    fn a_mapped_address_stands_for_an_ipv4_address() {
        let bare = SocketAddress::of_host(AF_INET, &[10, 0, 0, 1]).map(|a| a.with_port(7));
        let bare = bare.unwrap_or_else(|| SocketAddress::any(AF_INET));
        let mapped = bare.mapped();
        assert_eq!((mapped.family(), mapped.port()), (AF_INET6, 7));
        assert_eq!(mapped.host(), [&MAPPED[..], bare.host()].concat());
        assert!(mapped.unmapped().is_same(&bare) && mapped.mapped().is_same(&mapped));
        let wildcard = SocketAddress::any(AF_INET6);
        assert!(wildcard.unmapped().is_same(&wildcard));
    }

    #[test]
    fn port_is_read_from_each_family() {
        let address = ipv4(7471);
        // SAFETY: a valid sockaddr.
        let read = unsafe { SocketAddress::read((&raw const address).cast()) };
        assert_eq!(read.map(|a| port_of(a.0.storage())), Ok(7471_u16.to_be()));

        let ib = sockaddr_ib {
            sib_family: AF_IB as u16,
            sib_pkey: 0,
            sib_flowinfo: 0,
            sib_addr: ib_addr { sib_raw: [0; 16] },
            sib_sid: 0x0106_1234_u64.to_be(),
            sib_sid_mask: 0xFFFF_u64.to_be(),
            sib_scope_id: 0,
        };
        // SAFETY: a valid sockaddr of 48 bytes.
        let read = unsafe { SocketAddress::read((&raw const ib).cast()) };
        assert_eq!(read.map(|a| port_of(a.0.storage())), Ok(0x1234_u16.to_be()));
    }
}
