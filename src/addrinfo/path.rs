// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Paths through an InfiniBand fabric, from ibacm.

use super::acm::{self, PathQuestion};
use super::entry::Entry;
use super::hints::Hints;
use super::native::{NativeAddress, ServiceId};
use crate::types::{AF_IB, PathData, RAI_NOROUTE, RAI_NUMERICHOST, SocketAddress};
use alloc::vec::Vec;
use base::deadline::Timeout;
use base::errno::preserve_errno;
use base::memory::try_copy;
use libc::AF_INET;
use zerocopy::{Immutable, IntoBytes};

/// `struct ib_connect_hdr`: the IP addresses of a connection between native addresses.
#[repr(C)]
#[derive(IntoBytes, Immutable)]
struct ConnectHeader {
    version: u8,
    /// In the upper half.
    ip_version: u8,
    port: u16,
    /// IPv4 addresses stand at the end of the field.
    source: [u8; 16],
    destination: [u8; 16],
}

const _: () = assert!(size_of::<ConnectHeader>() == 36);

/// Adds the route to the first entry. With AF_IB in the hints an entry with native addresses goes
/// before it; otherwise the order stays, so that peers are connected in the family they listen in.
pub(super) fn complete(entries: &mut Vec<Entry>, hints: &Hints, timeout: Timeout) {
    let Some(first) = entries.first_mut() else { return };
    let question = PathQuestion {
        source: first.source.as_ref(),
        destination: first.destination.as_ref(),
        hint: hints.path.as_ref(),
        no_delay: hints.has(RAI_NUMERICHOST | RAI_NOROUTE),
    };
    if question.destination.is_none() && question.hint.is_none() {
        return;
    }
    let Some(reply) = acm::ask(&question, timeout) else { return };
    if first.source.is_none() {
        let family = first.destination.as_ref().map(SocketAddress::family);
        first.source = reply.source.filter(|source| Some(source.family()) == family);
    }
    first.route = reply.route;
    if hints.family != AF_IB {
        return;
    }
    // Without memory for one more entry the list is complete enough.
    if let (Some(native), Ok(())) = (native_twin(first), entries.try_reserve(1)) {
        entries.insert(0, native);
    }
}

/// The same connection between the native addresses of its path.
fn native_twin(entry: &Entry) -> Option<Entry> {
    let path = &entry.route.first()?.record;
    let destination = entry.destination.as_ref()?;
    let connect = if entry.family == AF_IB {
        Vec::new()
    } else {
        connect_header(entry.source.as_ref()?, destination)?
    };
    let end = |gid: [u8; 16], address: Option<&SocketAddress>| {
        NativeAddress {
            pkey: path.pkey.get(),
            flow_label: path.flow_label(),
            gid,
            service: ServiceId::of_port(entry.port_space, address.map_or(0, SocketAddress::port)),
            scope: 0,
        }
        .address()
    };
    Some(Entry {
        flags: entry.flags,
        family: AF_IB,
        qp_type: entry.qp_type,
        port_space: entry.port_space,
        source: Some(end(path.sgid, entry.source.as_ref())),
        destination: Some(end(path.dgid, Some(destination))),
        source_name: try_copy(&entry.source_name).ok()?,
        destination_name: try_copy(&entry.destination_name).ok()?,
        route: try_copy(&entry.route).ok()?,
        connect,
    })
}

/// `None` unless both are of one IP family.
fn connect_header(source: &SocketAddress, destination: &SocketAddress) -> Option<Vec<u8>> {
    if source.family() != destination.family() || source.is_ib() {
        return None;
    }
    let version: u8 = if source.family() == AF_INET { 4 } else { 6 };
    let field = |address: &SocketAddress| {
        let (mut field, host) = ([0; 16], address.host());
        field[16 - host.len()..].copy_from_slice(host);
        field
    };
    let header = ConnectHeader {
        version: 0,
        ip_version: version << 4,
        port: 0,
        source: field(source),
        destination: field(destination),
    };
    try_copy(header.as_bytes()).ok()
}

/// The route between two addresses, as ibacm knows it.
pub(crate) fn known_route(
    source: Option<&SocketAddress>,
    destination: &SocketAddress,
    timeout: Timeout,
) -> Option<Vec<PathData>> {
    let question =
        PathQuestion { source, destination: Some(destination), ..PathQuestion::default() };
    let reply = preserve_errno(|| acm::ask(&question, timeout))?;
    (!reply.route.is_empty()).then_some(reply.route)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(last: u8, port: u16) -> Option<SocketAddress> {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(&(AF_INET as u16).to_ne_bytes());
        bytes[2..4].copy_from_slice(&port.to_be_bytes());
        bytes[4..8].copy_from_slice(&[10, 9, 0, last]);
        SocketAddress::from_bytes(&bytes)
    }

    fn entry() -> Entry {
        let mut route = [0_u8; 72];
        route[16..32].fill(0xDD);
        route[32..48].fill(0x55);
        route[52..56].copy_from_slice(&[0x00, 0x12, 0x34, 0x40]);
        route[58..60].copy_from_slice(&[0x80, 0x01]);
        Entry {
            family: AF_INET,
            qp_type: 2,
            port_space: 0x0106,
            source: ipv4(1, 0),
            destination: ipv4(2, 7471),
            route: vec![zerocopy::transmute!(route)],
            ..Entry::default()
        }
    }

    #[test]
    fn native_twin_has_the_addresses_of_the_path() {
        let twin = native_twin(&entry()).unwrap_or_default();
        assert_eq!((twin.family, twin.port_space), (AF_IB, 0x0106));
        let destination = twin.destination.as_ref().map_or(&[][..], SocketAddress::bytes);
        assert_eq!(destination[2..8], [0x80, 0x01, 0x00, 0x00, 0x12, 0x34]);
        assert_eq!(destination[8..24], [0xDD; 16]);
        assert_eq!(destination[24..32], [0, 0, 0, 0, 1, 6, 0x1D, 0x2F]);
        let source = twin.source.as_ref().map_or(&[][..], SocketAddress::bytes);
        assert_eq!(source[8..24], [0x55; 16]);
        assert_eq!(source[24..40], [0, 0, 0, 0, 1, 6, 0, 0, 255, 255, 255, 255, 255, 255, 0, 0]);
        let mut header = [0; 36];
        header[1] = 0x40;
        header[16..20].copy_from_slice(&[10, 9, 0, 1]);
        header[32..].copy_from_slice(&[10, 9, 0, 2]);
        assert_eq!(twin.connect, header);
    }

    #[test]
    fn without_source_or_path_there_is_no_twin() {
        assert!(native_twin(&Entry { source: None, ..entry() }).is_none());
        assert!(native_twin(&Entry { route: Vec::new(), ..entry() }).is_none());
        assert!(native_twin(&Entry { destination: None, ..entry() }).is_none());
    }
}
