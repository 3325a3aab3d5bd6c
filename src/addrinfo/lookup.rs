// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The answer to rdma_getaddrinfo: entries made of names, or of the hints alone.

use super::entry::Entry;
use super::failure::Failure;
use super::hints::Hints;
use super::names::{self, Name};
use super::{native, path};
use crate::device;
use crate::types::{AF_IB, RAI_DNS, RAI_PASSIVE, RAI_SA, RDMA_PS_TCP, RDMA_PS_UDP};
use alloc::vec::Vec;
use base::deadline::Timeout;
use base::errno::{Errno, Result as OwnResult, preserve_errno};
use base::fail;
use base::memory::try_vec;
use core::ffi::CStr;
use libc::c_int;
use rdma_sys::ibv_qp_type;

/// The arguments of rdma_getaddrinfo and rdma_resolve_addrinfo.
pub(crate) struct AddrinfoQuestion<'a> {
    pub(crate) node: Option<&'a CStr>,
    pub(crate) service: Option<&'a CStr>,
    pub(crate) hints: Option<Hints>,
    /// How long the daemon that knows routes is asked.
    pub(crate) timeout: Timeout,
}

impl<'a> AddrinfoQuestion<'a> {
    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.node.is_none() && self.service.is_none() && self.hints.is_none()
    }

    /// Whether the subnet administrator is to be asked, not the resolver (RAI_SA).
    pub(crate) fn is_for_a_service(&self) -> bool {
        self.hints.is_some_and(|hints| hints.has(RAI_SA))
    }

    /// The service that the subnet administrator is to be asked for. EOPNOTSUPP together with a
    /// node or RAI_DNS.
    pub(crate) fn service_wanted(&self) -> OwnResult<Option<&'a CStr>> {
        if !self.is_for_a_service() {
            return Ok(None);
        }
        if self.node.is_some() || self.hints.is_some_and(|hints| hints.has(RAI_DNS)) {
            return Err(fail!(
                EOPNOTSUPP,
                "RAI_SA asks the subnet administrator for a service: no node and no RAI_DNS beside it"
            ));
        }
        self.service.ok_or_else(|| fail!(EINVAL, "RAI_SA needs a service")).map(Some)
    }
}

/// All addresses of a name, the best first. RAI_SA is not looked at.
pub(crate) fn lookup(question: &AddrinfoQuestion<'_>) -> Result<Vec<Entry>, Failure> {
    preserve_errno(|| answer(question))
}

fn answer(question: &AddrinfoQuestion<'_>) -> Result<Vec<Entry>, Failure> {
    if question.is_empty() {
        return Err(Failure::Own(fail!(
            EINVAL,
            "rdma_getaddrinfo: node, service and hints are all NULL"
        )));
    }
    device::require_any()?;
    let hints = question.hints.unwrap_or_default();
    let mut entries = if question.node.is_some() || question.service.is_some() {
        let names = names::resolve(question.node, question.service, question.hints.as_ref())?;
        from_names(&names, &hints)?
    } else {
        from_hints(&hints)?
    };
    if !hints.has(RAI_PASSIVE) {
        path::complete(&mut entries, &hints, question.timeout);
    }
    Ok(entries)
}

/// Without a name the hints are the answer.
fn from_hints(hints: &Hints) -> Result<Vec<Entry>, Failure> {
    let mut entries = try_vec(1)?;
    entries.push(Entry {
        flags: hints.flags,
        family: hints.family,
        qp_type: hints.qp_type,
        port_space: hints.port_space,
        source: hints.source,
        destination: hints.destination,
        ..Entry::default()
    });
    Ok(entries)
}

/// Without a hint for the socket type the resolver gives each address once for each type: the first
/// answer decides which type is used.
fn from_names(names: &[Name], hints: &Hints) -> Result<Vec<Entry>, Failure> {
    let mut entries = try_vec(names.len())?;
    let Some(first) = names.first() else { return Ok(entries) };
    let same_type =
        |name: &&Name| (name.socket_type, name.protocol) == (first.socket_type, first.protocol);
    for name in names.iter().filter(same_type) {
        let entry = from_name(name, hints)?;
        // With the source given, only the family of the source can be connected.
        let fits = match (&hints.source, &entry.destination) {
            (Some(source), Some(destination)) => source.family() == destination.family(),
            _ => true,
        };
        if entries.is_empty() || fits {
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn from_name(name: &Name, hints: &Hints) -> Result<Entry, Failure> {
    let mut canonical = try_vec(name.canonical.len())?;
    canonical.extend_from_slice(&name.canonical);
    let mut entry = Entry {
        qp_type: or_default(hints.qp_type, qp_type_of(name.socket_type)),
        port_space: or_default(hints.port_space, port_space_of(name.protocol)),
        ..Entry::default()
    };
    let address = if hints.names_a_gid() {
        entry.family = AF_IB;
        native::from_ipv6(&name.address, entry.port_space).ok_or(Errno::EINVAL)?
    } else {
        entry.family = name.family;
        name.address
    };
    if name.passive {
        entry.flags = RAI_PASSIVE;
        entry.source = Some(address);
        entry.source_name = canonical;
    } else {
        entry.source = hints.source;
        entry.destination = Some(address);
        entry.destination_name = canonical;
    }
    Ok(entry)
}

fn or_default(hint: c_int, default: c_int) -> c_int {
    if hint == 0 { default } else { hint }
}

fn qp_type_of(socket_type: c_int) -> c_int {
    match socket_type {
        libc::SOCK_STREAM => ibv_qp_type::IBV_QPT_RC as c_int,
        libc::SOCK_DGRAM => ibv_qp_type::IBV_QPT_UD as c_int,
        _ => 0,
    }
}

fn port_space_of(protocol: c_int) -> c_int {
    match protocol {
        libc::IPPROTO_TCP => RDMA_PS_TCP as c_int,
        libc::IPPROTO_UDP => RDMA_PS_UDP as c_int,
        _ => 0,
    }
}
