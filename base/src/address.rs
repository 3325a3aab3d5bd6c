// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Socket addresses in C's form: copied and length-checked values made from a caller's
//! `struct sockaddr *`, and back.
//!
//! # Safety
//! Addresses of callers are read and written as far as their lengths say, at any alignment. The
//! storage of a value is wholly initialised, larger than the address of any family, and as aligned.
#![allow(unsafe_code)]

use crate::errno::{Errno, Result};
use core::mem::MaybeUninit;
use core::{fmt, ptr, slice};
use libc::{
    AF_INET, AF_INET6, c_int, sa_family_t, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage,
    sockaddr_un, socklen_t,
};

/// An address of any family. The bytes behind it are zero.
#[derive(Clone, Copy)]
pub struct RawAddress {
    storage: sockaddr_storage,
    length: usize,
}

/// The family of an address; None for NULL and for what is too short to have one.
///
/// # Safety
/// `address` is NULL or readable for `length` bytes.
#[inline]
pub unsafe fn family_of(address: *const sockaddr, length: usize) -> Option<c_int> {
    if address.is_null() || length < size_of::<sa_family_t>() {
        return None;
    }
    // SAFETY: by contract.
    let family = unsafe { (&raw const (*address).sa_family).read_unaligned() };
    Some(c_int::from(family))
}

/// The bytes of a sockaddr_storage.
pub type StorageBytes = [u8; size_of::<sockaddr_storage>()];

/// Puts an address, or as much of it as there is room for, at the start. The compiler copies an IPv4
/// address without a call.
#[inline]
pub fn put(storage: &mut StorageBytes, address: &[u8]) {
    const IPV4: usize = size_of::<sockaddr_in>();
    let room = storage.split_first_chunk_mut::<IPV4>();
    match (room, address.split_first_chunk::<IPV4>()) {
        (Some((start, room)), Some((first, rest))) => {
            *start = *first;
            if !rest.is_empty() {
                let length = rest.len().min(room.len());
                room[..length].copy_from_slice(&rest[..length]);
            }
        }
        _ => storage[..address.len()].copy_from_slice(address),
    }
}

impl RawAddress {
    /// Zeros but for the family.
    #[inline]
    #[must_use]
    pub fn blank(family: c_int, length: usize) -> RawAddress {
        // SAFETY: integers: valid when zero.
        let mut storage: sockaddr_storage = unsafe { MaybeUninit::zeroed().assume_init() };
        storage.ss_family = family as sa_family_t;
        RawAddress { storage, length: length.min(size_of::<sockaddr_storage>()) }
    }

    /// The address is all of the bytes, or as many as there are in a sockaddr_storage.
    #[inline]
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> RawAddress {
        let mut made = RawAddress::blank(0, bytes.len());
        let storage: *mut sockaddr_storage = &raw mut made.storage;
        // SAFETY: bytes of the storage; any bytes are integers.
        put(unsafe { &mut *storage.cast() }, bytes);
        made
    }

    /// # Safety
    /// `address` is readable for `length` bytes.
    #[inline]
    #[must_use]
    pub unsafe fn copy(address: *const sockaddr, length: usize) -> RawAddress {
        // SAFETY: by contract; bytes have no alignment.
        RawAddress::of_bytes(unsafe { slice::from_raw_parts(address.cast(), length) })
    }

    /// What a call like getsockname(2) stores.
    pub fn filled_by(
        call: impl FnOnce(*mut sockaddr, *mut socklen_t) -> c_int,
    ) -> Result<RawAddress> {
        let mut made = RawAddress::blank(0, size_of::<sockaddr_storage>());
        let mut length = size_of::<sockaddr_storage>() as socklen_t;
        let storage: *mut sockaddr_storage = &raw mut made.storage;
        if call(storage.cast(), &raw mut length) < 0 {
            return Err(Errno::last());
        }
        made.length = made.length.min(length as usize);
        Ok(made)
    }

    #[must_use]
    pub fn family(&self) -> c_int {
        c_int::from(self.storage.ss_family)
    }

    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    #[must_use]
    pub fn as_ptr(&self) -> *const sockaddr {
        (&raw const self.storage).cast()
    }

    #[must_use]
    pub fn storage_bytes(&self) -> &StorageBytes {
        // SAFETY: wholly initialised integers.
        unsafe { &*(&raw const self.storage).cast() }
    }

    #[must_use]
    pub fn storage(&self) -> &sockaddr_storage {
        &self.storage
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `length` is within the storage.
        unsafe { slice::from_raw_parts(self.as_ptr().cast(), self.length) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let start: *mut sockaddr_storage = &raw mut self.storage;
        // SAFETY: as above; any bytes are integers.
        unsafe { slice::from_raw_parts_mut(start.cast(), self.length) }
    }

    fn fields_of<T>(&self, family: c_int) -> Option<*const T> {
        let is_whole = self.family() == family && self.length >= size_of::<T>();
        is_whole.then(|| self.as_ptr().cast())
    }

    /// None for other families, and where it is too short.
    #[must_use]
    pub fn as_ipv4(&self) -> Option<&sockaddr_in> {
        // SAFETY: within the storage; integers.
        self.fields_of(AF_INET).map(|fields| unsafe { &*fields })
    }

    /// As `as_ipv4`.
    #[must_use]
    pub fn as_ipv6(&self) -> Option<&sockaddr_in6> {
        // SAFETY: within the storage; integers.
        self.fields_of(AF_INET6).map(|fields| unsafe { &*fields })
    }

    /// Stores it as accept(2) does: as much as there is room for, and the whole length.
    ///
    /// # Safety
    /// Both NULL, or a length and as many writable bytes.
    pub unsafe fn store(&self, to: *mut sockaddr, length: *mut socklen_t) {
        if to.is_null() || length.is_null() {
            return;
        }
        // SAFETY: not more than there is room for.
        unsafe {
            let room = self.length.min(*length as usize);
            ptr::copy_nonoverlapping(self.as_ptr().cast::<u8>(), to.cast(), room);
            *length = self.length as socklen_t;
        }
    }
}

macro_rules! from_struct {
    ($($name:ident)*) => {$(
        impl From<$name> for RawAddress {
            fn from(address: $name) -> RawAddress {
                const { assert!(align_of::<$name>() <= align_of::<sockaddr_storage>()) };
                // SAFETY: integers without padding between them.
                unsafe { RawAddress::copy((&raw const address).cast(), size_of::<$name>()) }
            }
        }
    )*};
}

from_struct! { sockaddr_in sockaddr_in6 sockaddr_un }

impl PartialEq for RawAddress {
    fn eq(&self, other: &RawAddress) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for RawAddress {}

impl fmt::Debug for RawAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "family {} {:?}", self.family(), self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4() -> sockaddr_in {
        sockaddr_in {
            sin_family: AF_INET as sa_family_t,
            sin_port: 7_u16.to_be(),
            sin_addr: libc::in_addr { s_addr: 0x0A09_0001_u32.to_be() },
            sin_zero: [0; 8],
        }
    }

    #[test]
    fn families_are_read_where_there_is_one() {
        let address = ipv4();
        let mut bytes = [0_u8; 17];
        bytes[1..].copy_from_slice(RawAddress::from(address).bytes());
        let odd: *const sockaddr = bytes[1..].as_ptr().cast();
        // SAFETY: readable for those lengths.
        unsafe {
            assert_eq!(family_of(ptr::null(), 16), None);
            assert_eq!(family_of(odd, 1), None);
            assert_eq!(family_of(odd, 2), Some(AF_INET));
            assert_eq!(RawAddress::copy(odd, 16), RawAddress::from(address));
        }
    }

    #[test]
    fn fields_are_those_of_the_family() {
        let raw = RawAddress::from(ipv4());
        assert_eq!((raw.family(), raw.length()), (AF_INET, 16));
        assert_eq!(raw.as_ipv4().map(|fields| fields.sin_port), Some(7_u16.to_be()));
        assert!(raw.as_ipv6().is_none());
        assert!(RawAddress::blank(AF_INET6, 28).as_ipv6().is_some());
        assert!(RawAddress::blank(AF_INET6, 27).as_ipv6().is_none());
        assert_eq!(RawAddress::of_bytes(&[1; 300]).length(), size_of::<sockaddr_storage>());
    }

    #[test]
    fn an_address_is_cut_to_the_room() {
        let raw = RawAddress::from(ipv4());
        let mut room = [0xFF_u8; 16];
        let mut length: socklen_t = 6;
        // SAFETY: as many bytes as `length` says.
        unsafe { raw.store(room.as_mut_ptr().cast(), &raw mut length) };
        assert_eq!((&room[..6], &room[6..], length), (&raw.bytes()[..6], &[0xFF; 10][..], 16));
        // SAFETY: NULL.
        unsafe { raw.store(ptr::null_mut(), &raw mut length) };
    }

    #[test]
    fn names_of_sockets_are_asked_for() {
        // SAFETY: no pointers.
        let socket = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0) };
        // SAFETY: room of the given length.
        let name =
            RawAddress::filled_by(|to, length| unsafe { libc::getsockname(socket, to, length) });
        assert_eq!(name.map(|name| (name.family(), name.length())), Ok((libc::AF_UNIX, 2)));
        // SAFETY: no pointers.
        unsafe { libc::close(socket) };
        // SAFETY: room of the given length.
        let bad = RawAddress::filled_by(|to, length| unsafe { libc::getsockname(-1, to, length) });
        assert_eq!(bad, Err(Errno::EBADF));
    }
}
