// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The name of a Unix socket that stands for a TCP connection in another process: an abstract name
//! (unix(7)) with the addresses of the connection. It goes with the descriptor, whoever gets that:
//! a child of fork, a program that is executed, or the receiver of a message (SCM_RIGHTS).
//!
//! Only the own name of a socket is read, which its maker has given it. A peer cannot choose it.
//!
//! # Safety
//! bind(2) and getsockname(2) with names of this file, and getrandom(2).
#![allow(unsafe_code)]

use super::address::{ADDRESS_SIZE, Address};
use super::original;
use base::errno::{Errno, Result};
use core::mem::{MaybeUninit, offset_of};
use libc::{AF_INET, AF_INET6, AF_UNIX, c_int, sa_family_t, sockaddr_un, socklen_t};

/// How such a name begins, behind the zero byte of abstract names.
const MAGIC: [u8; 12] = *b"\0rspreload/1";
const FAMILY: usize = MAGIC.len();
const OWN: usize = FAMILY + 1;
const PEER: usize = OWN + ADDRESS_SIZE;
/// Tells names of the same addresses apart.
const UNIQUE: usize = PEER + ADDRESS_SIZE;
const UNIQUE_SIZE: usize = 12;
const LENGTH: usize = UNIQUE + UNIQUE_SIZE;

const PATH: usize = offset_of!(sockaddr_un, sun_path);
/// Names that may be taken by others.
const TRIES: u32 = 4;

/// Whether a Unix socket with such a name may have given a name of that length: its own, or that of
/// its peer, which has none. Internet addresses are longer than the one and shorter than the other.
pub(crate) fn has_length(length: socklen_t) -> bool {
    [PATH, PATH + LENGTH].contains(&(length as usize))
}

/// The connection that a Unix socket stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionName {
    pub(crate) family: c_int,
    pub(crate) own: Address,
    pub(crate) peer: Address,
}

impl ConnectionName {
    fn encode(&self, unique: [u8; UNIQUE_SIZE]) -> [u8; LENGTH] {
        let mut name = [0; LENGTH];
        name[..FAMILY].copy_from_slice(&MAGIC);
        name[FAMILY] = self.family as u8;
        name[OWN..PEER].copy_from_slice(&self.own.to_bytes());
        name[PEER..UNIQUE].copy_from_slice(&self.peer.to_bytes());
        name[UNIQUE..].copy_from_slice(&unique);
        name
    }

    fn decode(name: &[u8]) -> Option<ConnectionName> {
        let name: &[u8; LENGTH] = name.try_into().ok()?;
        if !name.starts_with(&MAGIC) {
            return None;
        }
        let address = |start: usize| Address::from_bytes(name.get(start..)?.first_chunk()?);
        let family = c_int::from(name[FAMILY]);
        let is_known = matches!(family, AF_INET | AF_INET6);
        is_known.then_some(ConnectionName { family, own: address(OWN)?, peer: address(PEER)? })
    }

    /// Gives the name to a Unix socket that has none.
    pub(crate) fn give(&self, fd: c_int) -> Result<()> {
        let mut result = Ok(());
        for _ in 0..TRIES {
            let mut unique = [0; UNIQUE_SIZE];
            // SAFETY: room of that length. Zeros are as good as long as they are free.
            unsafe {
                libc::getrandom(unique.as_mut_ptr().cast(), UNIQUE_SIZE, libc::GRND_NONBLOCK)
            };
            result = bind(fd, &self.encode(unique));
            if result != Err(Errno::EADDRINUSE) {
                break;
            }
        }
        result
    }

    /// The name of a socket; None for any other descriptor.
    pub(crate) fn of(fd: c_int) -> Option<ConnectionName> {
        let mut raw = MaybeUninit::<sockaddr_un>::zeroed();
        let mut length = size_of::<sockaddr_un>() as socklen_t;
        // SAFETY: room of that length, which is zeroed.
        let raw = unsafe {
            if original::getsockname(fd, raw.as_mut_ptr().cast(), &raw mut length) != 0 {
                return None;
            }
            raw.assume_init()
        };
        if c_int::from(raw.sun_family) != AF_UNIX {
            return None;
        }
        let name = raw.sun_path.get(..(length as usize).checked_sub(PATH)?)?;
        if name.len() != LENGTH {
            return None;
        }
        let mut bytes = [0; LENGTH];
        for (to, from) in bytes.iter_mut().zip(name) {
            *to = *from as u8;
        }
        ConnectionName::decode(&bytes)
    }
}

fn bind(fd: c_int, name: &[u8; LENGTH]) -> Result<()> {
    // SAFETY: integers: valid when zero.
    let mut raw: sockaddr_un = unsafe { MaybeUninit::zeroed().assume_init() };
    raw.sun_family = AF_UNIX as sa_family_t;
    for (to, from) in raw.sun_path.iter_mut().zip(name) {
        *to = *from as libc::c_char;
    }
    let length = (PATH + LENGTH) as socklen_t;
    // SAFETY: a live name of that length.
    match unsafe { original::bind(fd, (&raw const raw).cast(), length) } {
        0 => Ok(()),
        _ => Err(Errno::last()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    fn name(family: c_int) -> ConnectionName {
        let host: [IpAddr; 2] = match family {
            AF_INET => [Ipv4Addr::new(10, 9, 0, 1).into(), Ipv4Addr::new(10, 9, 0, 200).into()],
            _ => [Ipv6Addr::LOCALHOST.into(), Ipv4Addr::new(1, 2, 3, 4).to_ipv6_mapped().into()],
        };
        let [own, peer] = host;
        ConnectionName { family, own: Address::new(own, 80), peer: Address::new(peer, 65535) }
    }

    #[test]
    fn a_socket_keeps_the_name_that_it_was_given() {
        let mut pair = [-1; 2];
        // SAFETY: room for two descriptors; then what was made here.
        unsafe {
            assert_eq!(libc::socketpair(AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr()), 0);
            for (fd, family) in pair.into_iter().zip([AF_INET, AF_INET6]) {
                assert_eq!(ConnectionName::of(fd), None);
                assert_eq!(name(family).give(fd), Ok(()));
                assert_eq!(ConnectionName::of(fd), Some(name(family)));
            }
            // It goes with the descriptor.
            let copy = libc::dup(pair[0]);
            assert_eq!(ConnectionName::of(copy), Some(name(AF_INET)));
            for fd in [pair[0], pair[1], copy] {
                libc::close(fd);
            }
        }
        assert_eq!(ConnectionName::of(-1), None);
        assert_eq!(ConnectionName::of(2), None);
    }

    #[test]
    fn other_names_mean_nothing() {
        let good = name(AF_INET).encode([7; 12]);
        assert_eq!(ConnectionName::decode(&good), Some(name(AF_INET)));
        for index in [0, 1, FAMILY, OWN, PEER] {
            let mut bad = good;
            bad[index] = 99;
            assert_eq!(ConnectionName::decode(&bad), None);
        }
        for length in 0..LENGTH {
            assert_eq!(ConnectionName::decode(&good[..length]), None);
        }
    }
}
