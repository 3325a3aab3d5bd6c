//! Paths through an InfiniBand fabric, from ibacm.

use super::acm::{self, Question};
use super::native::{Native, Service};
use super::{Entry, Hints};
use crate::error::quietly;
use crate::id::Id;
use crate::memory::try_vec;
use crate::types::{AF_IB, RAI_NOROUTE, RAI_NUMERICHOST, SocketAddress};
use libc::{AF_INET, c_int};
use std::time::Duration;

/// Size of `struct ibv_path_data`, and where its record lies in it.
const PATH_DATA: usize = 72;
const RECORD: usize = 8;

/// A `struct ib_connect_hdr`: the IP addresses of a connection between native addresses.
const CONNECT_HEADER: usize = 36;

/// Asks for the route to the first entry. Where native addresses are wished for, an entry with them
/// goes first; otherwise the order stays, so that peers are met in the family they listen in.
pub(super) fn complete(entries: &mut Vec<Entry>, hints: &Hints) {
    let Some(first) = entries.first_mut() else { return };
    let question = Question {
        source: first.source.as_ref(),
        destination: first.destination.as_ref(),
        wish: hints.path.as_ref(),
        no_delay: hints.has(RAI_NUMERICHOST | RAI_NOROUTE),
    };
    if question.destination.is_none() && question.wish.is_none() {
        return;
    }
    let Some(reply) = acm::ask(&question, None) else { return };
    if first.source.is_none() {
        let family = first.destination.as_ref().map(SocketAddress::family);
        first.source = reply.source.filter(|source| Some(source.family()) == family);
    }
    first.route = reply.route;
    if hints.family != AF_IB {
        return;
    }
    // Without memory for one more the list is still good.
    if let (Some(native), Ok(())) = (native_twin(first), entries.try_reserve(1)) {
        entries.insert(0, native);
    }
}

/// The same connection between the native addresses of its path.
fn native_twin(entry: &Entry) -> Option<Entry> {
    let record = entry.route.get(RECORD..PATH_DATA)?;
    let destination = entry.destination.as_ref()?;
    let connect = if entry.family == AF_IB {
        Vec::new()
    } else {
        connect_header(entry.source.as_ref()?, destination)?
    };
    let flow_and_hops = u32::from_be_bytes(record.get(44..48)?.try_into().ok()?);
    let end = |gid: std::ops::Range<usize>, address: Option<&SocketAddress>| {
        Native {
            pkey: u16::from_be_bytes(record.get(50..52)?.try_into().ok()?),
            flow_label: flow_and_hops >> 8,
            gid: record.get(gid)?.try_into().ok()?,
            service: Service::of_port(entry.port_space, address.map_or(0, SocketAddress::port)),
            scope: 0,
        }
        .address()
    };
    Some(Entry {
        flags: entry.flags,
        family: AF_IB,
        qp_type: entry.qp_type,
        port_space: entry.port_space,
        source: Some(end(24..40, entry.source.as_ref())?),
        destination: Some(end(8..24, Some(destination))?),
        source_name: copy(&entry.source_name)?,
        destination_name: copy(&entry.destination_name)?,
        route: copy(&entry.route)?,
        connect,
    })
}

/// `None` unless both are of one IP family.
fn connect_header(source: &SocketAddress, destination: &SocketAddress) -> Option<Vec<u8>> {
    if source.family() != destination.family() || source.is_ib() {
        return None;
    }
    let version: u8 = if source.family() == AF_INET { 4 } else { 6 };
    let mut header = try_vec(CONNECT_HEADER).ok()?;
    header.extend_from_slice(&[0, version << 4, 0, 0]);
    for host in [source.host(), destination.host()] {
        // IPv4 addresses stand at the end of their field.
        header.resize(header.len() + 16 - host.len(), 0);
        header.extend_from_slice(host);
    }
    Some(header)
}

fn copy(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut copy = try_vec(bytes.len()).ok()?;
    copy.extend_from_slice(bytes);
    Some(copy)
}

/// The route between the addresses of an id, as an array of `struct ibv_path_data`.
pub(crate) fn route_for(id: &Id, timeout_ms: c_int) -> Option<Vec<u8>> {
    let (source, destination) = id.addresses();
    let question = Question {
        source: source.as_ref(),
        destination: Some(destination.as_ref()?),
        ..Question::default()
    };
    let limit = u64::try_from(timeout_ms).ok().map(Duration::from_millis);
    let reply = quietly(|| acm::ask(&question, limit))?;
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
        let mut route = vec![0; PATH_DATA];
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
            route,
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
        let mut header = [0; CONNECT_HEADER];
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
