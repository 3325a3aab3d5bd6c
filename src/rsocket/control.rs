// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Ancillary data that a program sends. Nothing is done with it, but what is wrong is refused, as the
//! kernel does for TCP and UDP. Pure.

use base::errno::{Errno, Result};
use core::mem::size_of;
use libc::{
    IP_PKTINFO, IP_RETOPTS, IP_TOS, IP_TTL, IPPROTO_IP, IPPROTO_UDP, SCM_CREDENTIALS, SCM_RIGHTS,
    SO_MARK, SO_PRIORITY, SO_TIMESTAMPING, SOL_SOCKET, UDP_SEGMENT, c_int,
};

/// <asm-generic/socket.h>
const SO_TIMESTAMPING_NEW: c_int = 65;
/// Control messages begin at multiples of this, after a header of length, level and type.
const ALIGNMENT: usize = size_of::<usize>();
const HEADER: usize = (size_of::<usize>() + 2 * size_of::<c_int>()).next_multiple_of(ALIGNMENT);
const INT: usize = size_of::<c_int>();

/// EINVAL for a message that has no room for its header, goes beyond the end, or is of a type that its
/// level does not have. Other levels than those of the socket are nothing to it.
pub(crate) fn check(control: &[u8], is_stream: bool) -> Result<()> {
    let mut rest = control;
    while let Some(header) = rest.first_chunk::<HEADER>() {
        let (length, level, kind) = fields(header);
        if length < HEADER || length > rest.len() {
            return Err(Errno::EINVAL);
        }
        if !is_known(level, kind, length - HEADER, is_stream) {
            return Err(Errno::EINVAL);
        }
        rest = rest.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or(&[]);
    }
    Ok(())
}

fn fields(header: &[u8; HEADER]) -> (usize, c_int, c_int) {
    let (mut length, mut level, mut kind) = ([0; ALIGNMENT], [0; INT], [0; INT]);
    length.copy_from_slice(&header[..ALIGNMENT]);
    level.copy_from_slice(&header[ALIGNMENT..ALIGNMENT + INT]);
    kind.copy_from_slice(&header[ALIGNMENT + INT..ALIGNMENT + 2 * INT]);
    (usize::from_ne_bytes(length), c_int::from_ne_bytes(level), c_int::from_ne_bytes(kind))
}

fn is_known(level: c_int, kind: c_int, data: usize, is_stream: bool) -> bool {
    match (level, kind) {
        (SOL_SOCKET, SCM_RIGHTS | SCM_CREDENTIALS) => true,
        (SOL_SOCKET, SO_MARK | SO_PRIORITY | SO_TIMESTAMPING | SO_TIMESTAMPING_NEW) => data == INT,
        (SOL_SOCKET, _) => false,
        _ if is_stream => true,
        (IPPROTO_IP, IP_PKTINFO) => data == size_of::<libc::in_pktinfo>(),
        (IPPROTO_IP, IP_TTL) => data == INT,
        (IPPROTO_IP, IP_TOS) => data == INT || data == 1,
        (IPPROTO_IP, IP_RETOPTS) => true,
        (IPPROTO_IP, _) => false,
        (IPPROTO_UDP, UDP_SEGMENT) => data == size_of::<u16>(),
        (IPPROTO_UDP, _) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: usize, level: c_int, kind: c_int, data: usize) -> Vec<u8> {
        let mut made = length.to_ne_bytes().to_vec();
        made.extend(level.to_ne_bytes());
        made.extend(kind.to_ne_bytes());
        made.resize((HEADER + data).next_multiple_of(ALIGNMENT), 0);
        made
    }

    #[test]
    fn lengths_lie_within_the_data() {
        let known = |length| message(length, SOL_SOCKET, SCM_RIGHTS, 4);
        assert_eq!(check(&[], true), Ok(()));
        // Less than a header is none.
        assert_eq!(check(&known(0)[..HEADER - 1], true), Ok(()));
        for (length, answer) in
            [(0, false), (HEADER - 1, false), (HEADER, true), (HEADER + 4, true)]
        {
            assert_eq!(check(&known(length), true).is_ok(), answer, "{length}");
        }
        assert_eq!(check(&known(HEADER + 9), true), Err(Errno::EINVAL));
        assert_eq!(check(&known(usize::MAX), true), Err(Errno::EINVAL));
        let second = [known(HEADER + 4), message(HEADER, SOL_SOCKET, 77, 0)].concat();
        assert_eq!(check(&second, true), Err(Errno::EINVAL));
    }

    #[test]
    fn types_are_those_of_the_level() {
        let one = |level, kind, data: usize, is_stream| {
            check(&message(HEADER + data, level, kind, data), is_stream).is_ok()
        };
        assert!(!one(SOL_SOCKET, 77, 4, true) && !one(SOL_SOCKET, 77, 4, false));
        assert!(one(SOL_SOCKET, SO_MARK, 4, true) && !one(SOL_SOCKET, SO_MARK, 3, true));
        // A stream has no IP layer.
        assert!(one(IPPROTO_IP, 77, 4, true) && !one(IPPROTO_IP, 77, 4, false));
        assert!(one(IPPROTO_IP, IP_PKTINFO, 12, false) && !one(IPPROTO_IP, IP_PKTINFO, 8, false));
        assert!(one(IPPROTO_IP, IP_TOS, 1, false) && one(IPPROTO_UDP, UDP_SEGMENT, 2, false));
        assert!(one(99, 77, 4, false));
    }
}
