//! What rdma_getaddrinfo answers to a question.

use super::names::{self, Name};
use super::{Entry, Failure, Hints, native, route, service};
use crate::device;
use crate::error::{Errno, Result as OwnResult, quietly};
use crate::memory::try_vec;
use crate::types::{AF_IB, RAI_DNS, RAI_PASSIVE, RAI_SA, RDMA_PS_TCP, RDMA_PS_UDP};
use libc::c_int;
use rdma_sys::ibv_qp_type;
use std::ffi::CStr;

/// What a caller wants to know.
pub(crate) struct Question<'a> {
    pub(crate) node: Option<&'a CStr>,
    pub(crate) service: Option<&'a CStr>,
    pub(crate) hints: Option<Hints>,
}

impl<'a> Question<'a> {
    /// Nothing to answer.
    pub(super) fn is_empty(&self) -> bool {
        self.node.is_none() && self.service.is_none() && self.hints.is_none()
    }

    /// The service that the fabric is to be asked for. It needs no node, and names are something else.
    pub(super) fn service_wanted(&self) -> OwnResult<Option<&'a CStr>> {
        let flags = self.hints.map_or(0, |hints| hints.flags);
        if flags & RAI_SA == 0 {
            return Ok(None);
        }
        if flags & RAI_DNS != 0 || self.node.is_some() {
            return Err(Errno::EOPNOTSUPP);
        }
        self.service.ok_or(Errno::EINVAL).map(Some)
    }
}

/// All addresses, the best first. The C library gives the first one only, with the same contents.
pub(crate) fn lookup(question: &Question<'_>) -> Result<Vec<Entry>, Failure> {
    quietly(|| answer(question))
}

fn answer(question: &Question<'_>) -> Result<Vec<Entry>, Failure> {
    if question.is_empty() {
        return Err(Failure::Own(Errno::EINVAL));
    }
    device::require_any()?;
    let hints = question.hints.unwrap_or_default();
    if let Some(service) = question.service_wanted()? {
        return service::lookup(service, &hints);
    }
    let mut entries = if question.node.is_some() || question.service.is_some() {
        let names = names::resolve(question.node, question.service, question.hints.as_ref())?;
        from_names(&names, &hints)?
    } else {
        from_hints(&hints)?
    };
    if !hints.has(RAI_PASSIVE) {
        route::complete(&mut entries, &hints);
    }
    Ok(entries)
}

/// The wishes come back as they are.
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

/// Without a wish for a kind of socket the resolver names each address once for each kind it has:
/// the first one decides.
fn from_names(names: &[Name], hints: &Hints) -> Result<Vec<Entry>, Failure> {
    let mut entries = try_vec(names.len())?;
    let Some(first) = names.first() else { return Ok(entries) };
    let same_kind =
        |name: &&Name| (name.socket_type, name.protocol) == (first.socket_type, first.protocol);
    for name in names.iter().filter(same_kind) {
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

fn or_default(wish: c_int, default: c_int) -> c_int {
    if wish == 0 { default } else { wish }
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
