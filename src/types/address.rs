//! Socket addresses: a copied, length-checked value made from a caller's `struct sockaddr *`.
//!
//! # Safety
//! Reads raw memory through pointers of the caller; see "valid sockaddr" in the crate's safety words.
#![allow(unsafe_code)]

use crate::error::{Errno, Result};
use libc::{AF_INET, AF_INET6, c_int, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage};
use std::mem::{MaybeUninit, offset_of, size_of};

/// Address family of native InfiniBand addresses.
pub const AF_IB: c_int = 27;

/// A GID as `struct sockaddr_ib` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub struct ib_addr {
    /// The sixteen bytes in network order.
    pub sib_raw: [u8; 16],
}

/// `struct sockaddr_ib` of `<infiniband/ib.h>`; multi-byte fields are big endian but for the family
/// and the scope.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
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

/// A socket address of a family that RDMA knows, zero beyond its length.
#[derive(Clone, Copy)]
pub(crate) struct SocketAddress {
    storage: sockaddr_storage,
    length: usize,
}

impl SocketAddress {
    /// Copies `*address`, whose length follows from its family, as in the calls of the C library that
    /// take no length.
    ///
    /// # Safety
    /// `address` is NULL or a valid sockaddr.
    pub(crate) unsafe fn read(address: *const sockaddr) -> Result<SocketAddress> {
        if address.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: valid sockaddr; the family may lie at any alignment.
        let family = unsafe { (&raw const (*address).sa_family).read_unaligned() };
        let length = length_of(c_int::from(family)).ok_or(Errno::EINVAL)?;
        // SAFETY: valid sockaddr, so `length` bytes are readable.
        Ok(unsafe { SocketAddress::copy(address.cast(), length) })
    }

    /// Copies `*address` after checking `given`, the length that the caller says it has.
    ///
    /// # Safety
    /// `address` is NULL or points to `given` readable bytes.
    pub(crate) unsafe fn read_sized(
        address: *const sockaddr,
        given: usize,
    ) -> Result<SocketAddress> {
        if address.is_null() || given < size_of::<libc::sa_family_t>() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: at least the family is readable.
        let family = unsafe { (&raw const (*address).sa_family).read_unaligned() };
        let length = length_of(c_int::from(family)).ok_or(Errno::EINVAL)?;
        if given < length {
            return Err(Errno::EINVAL);
        }
        // SAFETY: `length` is at most `given`.
        Ok(unsafe { SocketAddress::copy(address.cast(), length) })
    }

    /// # Safety
    /// `length` bytes at `from` are readable and fit a sockaddr_storage.
    unsafe fn copy(from: *const u8, length: usize) -> SocketAddress {
        let mut storage = zeroed_storage();
        // SAFETY: by contract; the target is a local of at least `length` bytes.
        unsafe { std::ptr::copy_nonoverlapping(from, (&raw mut storage).cast::<u8>(), length) };
        SocketAddress { storage, length }
    }

    /// Reads the first `length` bytes of a kernel answer; `None` when family and length do not fit.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<SocketAddress> {
        let address = SocketAddress::in_bytes(bytes)?;
        // SAFETY: all of the slice, which no family makes longer than a sockaddr_storage.
        Some(unsafe { SocketAddress::copy(address.as_ptr(), address.len()) })
    }

    /// As `from_bytes`, without a copy: the part of `bytes` that is an address.
    pub(crate) fn in_bytes(bytes: &[u8]) -> Option<&[u8]> {
        let family = u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]);
        bytes.get(..length_of(c_int::from(family))?)
    }

    /// Any address and port of a family; IPv4 where the family is none of ours.
    pub(crate) fn any(family: c_int) -> SocketAddress {
        let mut storage = zeroed_storage();
        let (family, length) = match length_of(family) {
            Some(length) => (family, length),
            None => (AF_INET, size_of::<sockaddr_in>()),
        };
        storage.ss_family = family as libc::sa_family_t;
        SocketAddress { storage, length }
    }

    /// The same address with another port; native InfiniBand addresses stay as they are.
    pub(crate) fn with_port(&self, port: u16) -> SocketAddress {
        let mut changed = *self;
        if matches!(self.family(), AF_INET | AF_INET6) {
            let at: *mut sockaddr_storage = &raw mut changed.storage;
            // SAFETY: the storage is larger than, and as aligned as, both; their ports lie together.
            unsafe { (*at.cast::<sockaddr_in>()).sin_port = port.to_be() };
        }
        changed
    }

    /// Same address and scope, whatever the port.
    pub(crate) fn is_same_host(&self, other: &SocketAddress) -> bool {
        self.with_port(0).is_same(&other.with_port(0))
    }

    /// Whether it is the address that stands for every one.
    pub(crate) fn is_wildcard(&self) -> bool {
        let bytes = self.bytes();
        let address = if self.family() == AF_INET { 4..8 } else { 8..24 };
        bytes.get(address).is_none_or(|bytes| bytes.iter().all(|byte| *byte == 0))
    }

    pub(crate) fn family(&self) -> c_int {
        c_int::from(self.storage.ss_family)
    }

    /// In the order of this machine.
    pub(crate) fn port(&self) -> u16 {
        u16::from_be(port_of(&self.storage))
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn storage(&self) -> &sockaddr_storage {
        &self.storage
    }

    /// The bytes of the address, without the padding behind it.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: every byte of the storage was initialised (zeroed first), `length` is within it.
        unsafe { std::slice::from_raw_parts((&raw const self.storage).cast(), self.length) }
    }

    /// The address proper: an IPv4 or IPv6 address, or a GID.
    pub(crate) fn host(&self) -> &[u8] {
        match self.family() {
            AF_INET => &self.bytes()[4..8],
            // GIDs stand where IPv6 addresses do.
            _ => &self.bytes()[8..24],
        }
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

impl PartialEq for SocketAddress {
    fn eq(&self, other: &SocketAddress) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for SocketAddress {}

impl std::fmt::Debug for SocketAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "family {} {:?} port {}", self.family(), self.host(), self.port())
    }
}

fn zeroed_storage() -> sockaddr_storage {
    // SAFETY: all-zero bytes are a valid sockaddr_storage.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

fn length_of(family: c_int) -> Option<usize> {
    match family {
        AF_INET => Some(size_of::<sockaddr_in>()),
        AF_INET6 => Some(size_of::<sockaddr_in6>()),
        AF_IB => Some(size_of::<sockaddr_ib>()),
        _ => None,
    }
}

/// The port (big endian, as stored) of an address; for AF_IB the low 16 bits of the service id where
/// its mask covers them.
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
    // Ports of both families lie at the same offset.
    assert!(offset_of!(sockaddr_in, sin_port) == offset_of!(sockaddr_in6, sin6_port));
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
            assert_eq!(SocketAddress::read(std::ptr::null()).err(), Some(Errno::EINVAL));
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
    fn port_is_read_from_each_family() {
        let address = ipv4(7471);
        // SAFETY: a valid sockaddr.
        let read = unsafe { SocketAddress::read((&raw const address).cast()) };
        assert_eq!(read.map(|a| port_of(a.storage())), Ok(7471_u16.to_be()));

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
        assert_eq!(read.map(|a| port_of(a.storage())), Ok(0x1234_u16.to_be()));
    }
}
