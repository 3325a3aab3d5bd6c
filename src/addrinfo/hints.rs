// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The hints of rdma_getaddrinfo, read and checked.
//!
//! # Safety
//! Reads the caller's addresses and route as far as the lengths beside them say.
#![allow(unsafe_code)]

use crate::types::{
    AF_IB, PathData, PathRecord, RAI_FAMILY, RAI_NUMERICHOST, RAI_PASSIVE, SocketAddress,
    rdma_addrinfo,
};
use base::errno::{Errno, Result};
use libc::{c_int, sockaddr, socklen_t};

#[derive(Clone, Copy, Default)]
pub(crate) struct Hints {
    pub(super) flags: c_int,
    pub(super) family: c_int,
    pub(crate) qp_type: c_int,
    pub(super) port_space: c_int,
    pub(crate) source: Option<SocketAddress>,
    pub(super) destination: Option<SocketAddress>,
    /// Fields of the path to look for.
    pub(super) path: Option<PathRecord>,
}

impl Hints {
    /// Copies the hints. Where a name gives the address of a side, the hint for that side is not
    /// read, as in the C library.
    ///
    /// # Safety
    /// Addresses that are needed, and the route, are NULL or readable for the length beside them.
    pub(crate) unsafe fn read(given: &rdma_addrinfo, named: bool) -> Result<Hints> {
        let passive = given.ai_flags & RAI_PASSIVE != 0;
        // SAFETY: by contract.
        let (source, destination) = unsafe {
            (
                address(given.ai_src_addr, given.ai_src_len, !(named && passive))?,
                address(given.ai_dst_addr, given.ai_dst_len, !named)?,
            )
        };
        Ok(Hints {
            flags: given.ai_flags,
            family: given.ai_family,
            qp_type: given.ai_qp_type,
            port_space: given.ai_port_space,
            source,
            destination,
            // SAFETY: by contract.
            path: unsafe { path(given) },
        })
    }

    pub(super) fn has(&self, flag: c_int) -> bool {
        self.flags & flag != 0
    }

    /// Whether the node is the text of a GID.
    pub(super) fn names_a_gid(&self) -> bool {
        self.family == AF_IB && self.has(RAI_FAMILY) && self.has(RAI_NUMERICHOST)
    }
}

/// # Safety
/// When it is needed, NULL or readable for `length` bytes.
unsafe fn address(
    given: *const sockaddr,
    length: socklen_t,
    needed: bool,
) -> Result<Option<SocketAddress>> {
    if !needed || length == 0 {
        return Ok(None);
    }
    let length = usize::try_from(length).map_err(|_| Errno::EINVAL)?;
    // SAFETY: by contract.
    unsafe { SocketAddress::read_sized(given, length) }.map(Some)
}

/// The route may be a record, or a record with flags before it; nothing else is a hint.
///
/// # Safety
/// The route is NULL or readable for the length beside it.
unsafe fn path(given: &rdma_addrinfo) -> Option<PathRecord> {
    const RECORD: usize = size_of::<PathRecord>();
    const DATA: usize = size_of::<PathData>();
    if given.ai_route.is_null() {
        return None;
    }
    // SAFETY: by contract; every bit pattern is a record.
    unsafe {
        match given.ai_route_len {
            RECORD => Some(given.ai_route.cast::<PathRecord>().read_unaligned()),
            DATA => Some(given.ai_route.cast::<PathData>().read_unaligned().record),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::MaybeUninit;

    fn blank() -> rdma_addrinfo {
        // SAFETY: integers and pointers: valid when zero.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }

    #[test]
    fn lengths_are_held_against_the_family() {
        let mut address = libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: 0,
            sin_addr: libc::in_addr { s_addr: 0 },
            sin_zero: [0; 8],
        };
        let mut given = blank();
        given.ai_src_addr = (&raw mut address).cast();
        for (length, good) in [(0, true), (1, false), (2, false), (15, false), (16, true)] {
            given.ai_src_len = length;
            // SAFETY: a valid address of at least the given length.
            let read = unsafe { Hints::read(&given, false) };
            assert_eq!(read.is_ok(), good, "length {length}");
            assert_eq!(read.is_ok_and(|hints| hints.source.is_some()), length == 16);
        }
        given.ai_src_addr = core::ptr::null_mut();
        // SAFETY: NULL is refused, whatever the length.
        assert_eq!(unsafe { Hints::read(&given, false) }.err(), Some(Errno::EINVAL));
    }

    #[test]
    fn addresses_that_a_name_stands_for_are_not_looked_at() {
        let mut given = blank();
        given.ai_dst_addr = core::ptr::dangling_mut();
        given.ai_dst_len = 16;
        // SAFETY: the destination is not needed where there is a name.
        assert!(unsafe { Hints::read(&given, true) }.is_ok());
        given.ai_src_addr = core::ptr::dangling_mut();
        given.ai_src_len = 16;
        given.ai_flags = RAI_PASSIVE;
        // SAFETY: nor is the source on the passive side.
        assert!(unsafe { Hints::read(&given, true) }.is_ok());
    }
}
