// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Names and services, by getaddrinfo.
//!
//! # Safety
//! Calls getaddrinfo and walks its list.
#![allow(unsafe_code)]

use super::failure::Failure;
use super::hints::Hints;
use crate::types::{
    AF_IB, RAI_NUMERICHOST, RAI_PASSIVE, RDMA_PS_IB, RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP,
    SocketAddress, rdma_port_space,
};
use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::memory::try_vec;
use base::{because, log};
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr;
use libc::{addrinfo, c_char, c_int};
use rdma_sys::ibv_qp_type;

/// One answer.
pub(super) struct Name {
    pub(super) passive: bool,
    pub(super) family: c_int,
    pub(super) socket_type: c_int,
    pub(super) protocol: c_int,
    pub(super) address: SocketAddress,
    /// With its final zero byte, empty where there is none.
    pub(super) canonical: Vec<u8>,
}

/// The list of getaddrinfo, freed on drop.
struct Answers(*mut addrinfo);

impl Drop for Answers {
    fn drop(&mut self) {
        // SAFETY: made by getaddrinfo, freed once.
        unsafe { libc::freeaddrinfo(self.0) };
    }
}

/// Asks for a name, a service or both, in the resolver's order. Never empty.
pub(super) fn resolve(
    node: Option<&CStr>,
    service: Option<&CStr>,
    hints: Option<&Hints>,
) -> core::result::Result<Vec<Name>, Failure> {
    let wished = hints.map(socket_hints);
    let text = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    let mut list = ptr::null_mut();
    // SAFETY: C strings or NULL, hints that live until the call returns, a place for the list.
    let code = unsafe {
        libc::getaddrinfo(
            text(node),
            text(service),
            wished.as_ref().map_or(ptr::null(), ptr::from_ref),
            &raw mut list,
        )
    };
    match code {
        0 => {}
        libc::EAI_SYSTEM => {
            let error = Errno::last();
            return Err(Failure::System(because!(
                error,
                "getaddrinfo of {}",
                Asked(node, service)
            )));
        }
        code => {
            log!(Warn, "getaddrinfo of {}: {}", Asked(node, service), resolver_text(code));
            return Err(Failure::Resolver(code));
        }
    }
    let answers = Answers(list);
    let mut names = Vec::new();
    let mut next = answers.0;
    // SAFETY: entries of the list that `answers` keeps.
    while let Some(answer) = unsafe { next.as_ref() } {
        // SAFETY: as above.
        if let Some(name) = unsafe { read(answer) }? {
            names.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            names.push(name);
        }
        next = answer.ai_next;
    }
    // Addresses of other families only.
    if names.is_empty() { Err(Failure::Resolver(libc::EAI_FAMILY)) } else { Ok(names) }
}

/// A name that was looked up, for the log.
struct Asked<'a>(Option<&'a CStr>, Option<&'a CStr>);

impl core::fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let node = self.0.map_or(&b"any"[..], CStr::to_bytes).escape_ascii();
        let service = self.1.map_or(&b"any"[..], CStr::to_bytes).escape_ascii();
        write!(f, "\"{node}\", service \"{service}\"")
    }
}

fn resolver_text(code: c_int) -> &'static str {
    // SAFETY: a constant C string of libc.
    unsafe { CStr::from_ptr(libc::gai_strerror(code)) }.to_str().unwrap_or("unknown error")
}

/// # Safety
/// `answer` is an entry of getaddrinfo.
unsafe fn read(answer: &addrinfo) -> Result<Option<Name>> {
    // SAFETY: by contract the address is as long as it says.
    let address = unsafe { SocketAddress::read_sized(answer.ai_addr, answer.ai_addrlen as usize) };
    let Ok(address) = address else { return Ok(None) };
    // SAFETY: NULL or a C string.
    let canonical = unsafe { copy_text(answer.ai_canonname) }?;
    Ok(Some(Name {
        passive: answer.ai_flags & libc::AI_PASSIVE != 0,
        family: answer.ai_family,
        socket_type: answer.ai_socktype,
        protocol: answer.ai_protocol,
        address,
        canonical,
    }))
}

/// # Safety
/// NULL or a C string.
unsafe fn copy_text(text: *const c_char) -> Result<Vec<u8>> {
    if text.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: by contract.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes_with_nul();
    let mut copy = try_vec(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// The hints for getaddrinfo.
fn socket_hints(hints: &Hints) -> addrinfo {
    // SAFETY: integers and pointers: valid when zero.
    let mut wished: addrinfo = unsafe { MaybeUninit::zeroed().assume_init() };
    if hints.has(RAI_PASSIVE) {
        wished.ai_flags |= libc::AI_PASSIVE;
    }
    if hints.has(RAI_NUMERICHOST) {
        wished.ai_flags |= libc::AI_NUMERICHOST;
    }
    wished.ai_family = match hints.family {
        // A GID is written like an IPv6 address; an IPv4 address is none.
        AF_IB if hints.names_a_gid() => libc::AF_INET6,
        AF_IB => libc::AF_UNSPEC,
        family => family,
    };
    wished.ai_socktype = socket_type(hints.qp_type);
    wished.ai_protocol = protocol(hints.port_space, wished.ai_socktype);
    wished
}

fn socket_type(qp_type: c_int) -> c_int {
    match u32::try_from(qp_type) {
        Ok(
            ibv_qp_type::IBV_QPT_RC
            | ibv_qp_type::IBV_QPT_UC
            | ibv_qp_type::IBV_QPT_XRC_SEND
            | ibv_qp_type::IBV_QPT_XRC_RECV,
        ) => libc::SOCK_STREAM,
        Ok(ibv_qp_type::IBV_QPT_UD) => libc::SOCK_DGRAM,
        _ => 0,
    }
}

fn protocol(port_space: c_int, socket_type: c_int) -> c_int {
    match (port_space as rdma_port_space, socket_type) {
        (RDMA_PS_TCP, _) | (RDMA_PS_IB, libc::SOCK_STREAM) => libc::IPPROTO_TCP,
        (RDMA_PS_UDP | RDMA_PS_IPOIB, _) | (RDMA_PS_IB, libc::SOCK_DGRAM) => libc::IPPROTO_UDP,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::RAI_FAMILY;

    fn numeric(family: c_int) -> Hints {
        Hints { flags: RAI_NUMERICHOST | RAI_FAMILY, family, ..Hints::default() }
    }

    fn failure(node: &CStr, hints: &Hints) -> Option<Failure> {
        resolve(Some(node), None, Some(hints)).err()
    }

    #[test]
    fn numeric_nodes_are_resolved_in_their_family() {
        let found = resolve(Some(c"10.9.0.1"), Some(c"7471"), Some(&numeric(libc::AF_INET)));
        let families: Vec<_> = found.iter().flatten().map(|name| name.family).collect();
        assert!(!families.is_empty() && families.iter().all(|family| *family == libc::AF_INET));
        assert!(resolve(Some(c"fe80::1"), None, Some(&numeric(AF_IB))).is_ok());
    }

    #[test]
    fn failures_keep_the_resolvers_number() {
        let none = Failure::Resolver(libc::EAI_NONAME);
        assert_eq!(failure(c"not-a-number", &numeric(libc::AF_INET)), Some(none));
        assert_eq!(failure(c"127.0.0.1", &numeric(99)), Some(Failure::Resolver(libc::EAI_FAMILY)));
        // An IPv4 text is no GID.
        assert!(matches!(failure(c"127.0.0.1", &numeric(AF_IB)), Some(Failure::Resolver(_))));
        let mixed = Hints {
            qp_type: ibv_qp_type::IBV_QPT_UD as c_int,
            port_space: RDMA_PS_TCP as c_int,
            ..Hints::default()
        };
        let refused = resolve(Some(c"127.0.0.1"), Some(c"1"), Some(&mixed)).err();
        assert_eq!(refused, Some(Failure::Resolver(libc::EAI_SOCKTYPE)));
    }

    #[test]
    fn kinds_of_queue_pairs_and_port_spaces_are_those_of_sockets() {
        for (qp_type, expected) in
            [(2, libc::SOCK_STREAM), (4, libc::SOCK_DGRAM), (8, 0), (0, 0), (-1, 0)]
        {
            assert_eq!(socket_type(qp_type), expected, "queue pair type {qp_type}");
        }
        assert_eq!(protocol(RDMA_PS_IB as c_int, libc::SOCK_DGRAM), libc::IPPROTO_UDP);
        assert_eq!(protocol(RDMA_PS_IB as c_int, 0), 0);
        assert_eq!(protocol(-1, libc::SOCK_STREAM), 0);
    }
}
