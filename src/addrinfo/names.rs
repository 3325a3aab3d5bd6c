//! The resolver of the C library.
//!
//! # Safety
//! Calls getaddrinfo and walks its list.
#![allow(unsafe_code)]

use super::{Failure, Hints};
use crate::error::{Errno, Result};
use crate::memory::try_vec;
use crate::types::{
    AF_IB, RAI_NUMERICHOST, RAI_PASSIVE, RDMA_PS_IB, RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP,
    SocketAddress, rdma_port_space,
};
use libc::{addrinfo, c_char, c_int};
use rdma_sys::ibv_qp_type;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;

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

/// The list of getaddrinfo, given back on drop.
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
) -> std::result::Result<Vec<Name>, Failure> {
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
        libc::EAI_SYSTEM => return Err(Failure::System(Errno::last())),
        code => return Err(Failure::Resolver(code)),
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

/// The wishes in the resolver's words.
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
        // A GID is written like an IPv6 address; asking for nothing else keeps IPv4 texts out.
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
