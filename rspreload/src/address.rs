//! IPv4 and IPv6 socket addresses as values.
//!
//! # Safety
//! Reads and writes sockaddr structures through the caller's pointers and lengths.
#![allow(unsafe_code)]

use libc::{
    AF_INET, AF_INET6, c_int, in6_addr, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage,
    socklen_t,
};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address of one of the two families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: IpAddr,
    pub(crate) port: u16,
    scope: u32,
}

impl Address {
    /// None for other families and for what is too short.
    ///
    /// # Safety
    /// `address` is NULL or readable for `length` bytes.
    pub(crate) unsafe fn read(address: *const sockaddr, length: socklen_t) -> Option<Address> {
        let length = length as usize;
        if address.is_null() || length < size_of::<libc::sa_family_t>() {
            return None;
        }
        // SAFETY: as many bytes as are read are there.
        unsafe {
            match c_int::from((&raw const (*address).sa_family).read_unaligned()) {
                AF_INET if length >= size_of::<sockaddr_in>() => {
                    let raw = address.cast::<sockaddr_in>().read_unaligned();
                    let host = Ipv4Addr::from(u32::from_be(raw.sin_addr.s_addr));
                    Some(Address::new(host.into(), u16::from_be(raw.sin_port)))
                }
                AF_INET6 if length >= size_of::<sockaddr_in6>() => {
                    let raw = address.cast::<sockaddr_in6>().read_unaligned();
                    let host = Ipv6Addr::from(raw.sin6_addr.s6_addr);
                    let port = u16::from_be(raw.sin6_port);
                    Some(Address { host: host.into(), port, scope: raw.sin6_scope_id })
                }
                _ => None,
            }
        }
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
        let mut storage = MaybeUninit::<sockaddr_storage>::zeroed();
        let mut length = size_of::<sockaddr_storage>() as socklen_t;
        if call(storage.as_mut_ptr().cast(), &raw mut length) != 0 {
            return None;
        }
        // SAFETY: zeroed room of that length.
        unsafe { Address::read(storage.as_ptr().cast(), length) }
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

    fn raw(&self) -> (sockaddr_storage, socklen_t) {
        // SAFETY: integers: valid when zero.
        let mut storage: sockaddr_storage = unsafe { MaybeUninit::zeroed().assume_init() };
        let to: *mut sockaddr_storage = &raw mut storage;
        // SAFETY: the storage is larger than, and as aligned as, both.
        let length = unsafe {
            match self.host {
                IpAddr::V4(host) => {
                    let to = &mut *to.cast::<sockaddr_in>();
                    to.sin_family = AF_INET as libc::sa_family_t;
                    to.sin_port = self.port.to_be();
                    to.sin_addr.s_addr = u32::from(host).to_be();
                    size_of::<sockaddr_in>()
                }
                IpAddr::V6(host) => {
                    let to = &mut *to.cast::<sockaddr_in6>();
                    to.sin6_family = AF_INET6 as libc::sa_family_t;
                    to.sin6_port = self.port.to_be();
                    to.sin6_addr = in6_addr { s6_addr: host.octets() };
                    to.sin6_scope_id = self.scope;
                    size_of::<sockaddr_in6>()
                }
            }
        };
        (storage, length as socklen_t)
    }

    /// Calls with the address in C's form.
    pub(crate) fn with_raw<R>(&self, call: impl FnOnce(*const sockaddr, socklen_t) -> R) -> R {
        let (storage, length) = self.raw();
        call((&raw const storage).cast(), length)
    }

    /// Stores it as accept(2) does: cut to the room there is, with the whole length.
    ///
    /// # Safety
    /// Both NULL, or a length and a place for as many bytes.
    pub(crate) unsafe fn store(&self, to: *mut sockaddr, length: *mut socklen_t) {
        if to.is_null() || length.is_null() {
            return;
        }
        let (storage, whole) = self.raw();
        // SAFETY: not more than there is room for.
        unsafe {
            let room = whole.min(*length) as usize;
            std::ptr::copy_nonoverlapping((&raw const storage).cast::<u8>(), to.cast(), room);
            *length = whole;
        }
    }
}
