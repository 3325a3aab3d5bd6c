// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Questions to ibacm and its replies, by the layouts of `<infiniband/acm.h>`.
//!
//! Numbers are in host order, what is inside an address or path in network order. A reply comes
//! from another process: everything in it is checked.

use crate::types::{PathData, PathRecord, SocketAddress};
use alloc::vec::Vec;
use core::mem::size_of;
use libc::{AF_INET, AF_INET6};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

const VERSION: u8 = 1;
const RESOLVE: u8 = 1;
/// Daemons set further bits of a reply's operation, or not.
const OPERATION_MASK: u8 = 0x0F;
const SUCCESS: u8 = 0;

const SOURCE: u32 = 1 << 0;
const DESTINATION: u32 = 1 << 1;
const NO_DELAY: u32 = 1 << 30;

const IPV4: u16 = 2;
const IPV6: u16 = 3;
const PATH: u16 = 0x10;

/// Flags of a path that the kernel knows (`IBV_PATH_FLAG_…`).
const PATH_FLAGS: u32 = 0x3F;

/// `struct acm_hdr`.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
struct Header {
    version: u8,
    operation: u8,
    status: u8,
    data: [u8; 3],
    /// Of the whole message.
    length: u16,
    transaction: u64,
}

/// `struct acm_ep_addr_data`.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
struct Record {
    flags: u32,
    kind: u16,
    reserved: u16,
    /// An address, from the first byte on, or a path.
    info: [u8; 64],
}

const HEADER: usize = size_of::<Header>();
const RECORD: usize = size_of::<Record>();
const MAX_RECORDS: usize = 8;

/// The longest message of either side.
pub(super) const MAX_MESSAGE: usize = HEADER + MAX_RECORDS * RECORD;

const _: () = assert!(HEADER == 16 && RECORD == 72);

/// What to ask for: the path between two addresses.
#[derive(Clone, Copy, Default)]
pub(crate) struct PathQuestion<'a> {
    pub(crate) source: Option<&'a SocketAddress>,
    pub(crate) destination: Option<&'a SocketAddress>,
    /// Fields of the path to look for.
    pub(crate) hint: Option<&'a PathRecord>,
    /// Only what the daemon knows without asking the fabric.
    pub(crate) no_delay: bool,
}

/// What a daemon answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AcmReply {
    pub(super) transaction: u64,
    /// In the daemon's order.
    pub(crate) route: Vec<PathData>,
    pub(crate) source: Option<SocketAddress>,
}

/// A message that is being written.
#[repr(C)]
#[derive(IntoBytes, Immutable)]
pub(super) struct AcmRequest {
    header: Header,
    records: [Record; MAX_RECORDS],
}

impl AcmRequest {
    pub(super) fn new(question: &PathQuestion<'_>, transaction: u64) -> AcmRequest {
        let mut request = AcmRequest {
            header: Header {
                version: VERSION,
                operation: RESOLVE,
                status: 0,
                data: [0; 3],
                length: HEADER as u16,
                transaction,
            },
            records: FromZeros::new_zeroed(),
        };
        let delay = if question.no_delay { NO_DELAY } else { 0 };
        if let Some((kind, host)) = question.source.and_then(ip) {
            request.push(SOURCE, kind, host);
        }
        if let Some((kind, host)) = question.destination.and_then(ip) {
            request.push(DESTINATION | delay, kind, host);
        }
        let (sgid, dgid) = (question.source.and_then(gid), question.destination.and_then(gid));
        if question.hint.is_some() || sgid.is_some() || dgid.is_some() {
            let mut path = question.hint.copied().unwrap_or(PathRecord::ZERO);
            path.sgid = sgid.unwrap_or(path.sgid);
            path.dgid = dgid.unwrap_or(path.dgid);
            request.push(0, PATH, path.as_bytes());
        }
        request
    }

    fn push(&mut self, flags: u32, kind: u16, info: &[u8]) {
        let count = (usize::from(self.header.length) - HEADER) / RECORD;
        let record = &mut self.records[count];
        record.flags = flags;
        record.kind = kind;
        record.info[..info.len()].copy_from_slice(info);
        self.header.length += RECORD as u16;
    }

    /// Nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        usize::from(self.header.length) == HEADER
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.as_bytes()[..usize::from(self.header.length)]
    }
}

fn ip(address: &SocketAddress) -> Option<(u16, &[u8])> {
    match address.family() {
        AF_INET => Some((IPV4, address.host())),
        AF_INET6 => Some((IPV6, address.host())),
        _ => None,
    }
}

fn gid(address: &SocketAddress) -> Option<[u8; 16]> {
    address.as_ib().map(|ib| ib.sib_addr.sib_raw)
}

/// How long the message is whose first bytes these are; `None` before its header is there, or where
/// no message has that length.
pub(super) fn announced_length(bytes: &[u8]) -> Option<usize> {
    let (header, _) = Header::read_from_prefix(bytes).ok()?;
    let length = usize::from(header.length);
    (HEADER..=MAX_MESSAGE).contains(&length).then_some(length)
}

/// Reads a whole reply. `None` where it reports an error or is none.
pub(super) fn parse_reply(bytes: &[u8]) -> Option<AcmReply> {
    let length = announced_length(bytes)?;
    let (header, records) = Header::read_from_prefix(bytes).ok()?;
    let records = records.chunks_exact(RECORD);
    let is_whole = bytes.len() == length && records.remainder().is_empty();
    let is_answer = header.version == VERSION
        && header.operation & OPERATION_MASK == RESOLVE
        && header.status == SUCCESS;
    if !is_whole || !is_answer {
        return None;
    }
    let mut reply = AcmReply { transaction: header.transaction, route: Vec::new(), source: None };
    reply.route.try_reserve_exact(records.len()).ok()?;
    for record in records {
        let Record { flags, kind, info, .. } = Record::read_from_bytes(record).ok()?;
        match kind {
            PATH if flags & !PATH_FLAGS == 0 => {
                let record: PathRecord = zerocopy::transmute!(info);
                // A path to nowhere is none.
                if record.dgid != [0; 16] {
                    reply.route.push(PathData { flags, reserved: 0, record });
                }
            }
            IPV4 | IPV6 if flags & SOURCE != 0 && reply.source.is_none() => {
                reply.source = address(kind, &info);
            }
            _ => {}
        }
    }
    Some(reply)
}

#[cfg(any(test, fuzzing))]
/// See `crate::fuzz`.
pub fn fuzz_acm_reply(bytes: &[u8]) {
    let announced = announced_length(bytes);
    assert!(announced.is_none_or(|length| (HEADER..=MAX_MESSAGE).contains(&length)));
    let Some(reply) = parse_reply(bytes) else { return };
    assert_eq!(announced, Some(bytes.len()));
    // None of them made up.
    assert!(reply.route.len() <= (bytes.len() - HEADER) / RECORD);
}

/// An address with port 0; `None` for the wildcard.
fn address(kind: u16, info: &[u8]) -> Option<SocketAddress> {
    let family = if kind == IPV4 { AF_INET } else { AF_INET6 };
    SocketAddress::of_host(family, info).filter(|address| !address.is_wildcard())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::AF_IB;

    fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
        Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
    }

    fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    }

    fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
        Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
    }

    fn ipv4(last: u8) -> Option<SocketAddress> {
        address(IPV4, &[10, 9, 0, last])
    }

    fn record(flags: u32, kind: u16, info: &[u8]) -> Vec<u8> {
        let mut record = flags.to_ne_bytes().to_vec();
        record.extend(kind.to_ne_bytes());
        // Not zero, to see that it is not taken over.
        record.extend([0xEE, 0xEE]);
        record.extend(info);
        record.resize(RECORD, 0);
        record
    }

    fn path(dgid: u8) -> Vec<u8> {
        let mut path = vec![0; 64];
        path[8 + 15] = dgid;
        path
    }

    fn message(records: &[Vec<u8>]) -> Vec<u8> {
        let length = HEADER + records.len() * RECORD;
        let mut message = vec![VERSION, 0x81, 0, 0, 0, 0];
        message.extend((length as u16).to_ne_bytes());
        message.extend(7_u64.to_ne_bytes());
        message.extend(records.concat());
        message
    }

    #[test]
    fn question_about_ip_addresses_has_a_record_for_each() {
        let (source, destination) = (ipv4(1), ipv4(2));
        let question = PathQuestion {
            source: source.as_ref(),
            destination: destination.as_ref(),
            no_delay: true,
            hint: None,
        };
        let request = AcmRequest::new(&question, 9);
        let bytes = request.bytes();
        assert_eq!(bytes.len(), HEADER + 2 * RECORD);
        assert_eq!(announced_length(bytes), Some(bytes.len()));
        assert_eq!((bytes[0], bytes[1], u64_at(bytes, 8)), (1, 1, Some(9)));
        assert_eq!((u32_at(bytes, 16), u16_at(bytes, 20)), (Some(SOURCE), Some(IPV4)));
        assert_eq!(bytes[24..28], [10, 9, 0, 1]);
        assert_eq!(u32_at(bytes, 88), Some(DESTINATION | NO_DELAY));
        assert_eq!(bytes[96..100], [10, 9, 0, 2]);
        assert!(AcmRequest::new(&PathQuestion::default(), 1).is_empty());
    }

    #[test]
    fn question_about_gids_is_one_path() {
        let mut bytes = [0_u8; 48];
        bytes[..2].copy_from_slice(&(AF_IB as u16).to_ne_bytes());
        bytes[8..24].copy_from_slice(&[0xAB; 16]);
        let destination = SocketAddress::from_bytes(&bytes);
        let hint = zerocopy::transmute!([0x11_u8; 64]);
        let question = PathQuestion {
            destination: destination.as_ref(),
            hint: Some(&hint),
            ..PathQuestion::default()
        };
        let request = AcmRequest::new(&question, 0);
        let record = &request.bytes()[HEADER..];
        assert_eq!((record.len(), u16_at(record, 4)), (RECORD, Some(PATH)));
        // Destination and source GID, after flags, kind and service id.
        assert_eq!(record[16..32], [0xAB; 16]);
        assert_eq!(record[32..48], [0x11; 16]);
    }

    #[test]
    fn paths_are_taken_one_by_one_and_the_source_with_them() {
        let reply = parse_reply(&message(&[
            record(0x2B, PATH, &path(1)),
            record(SOURCE, IPV4, &[10, 9, 0, 7]),
            record(SOURCE, IPV4, &[10, 9, 0, 8]),
            record(0x0A, PATH, &path(2)),
        ]));
        let Some(reply) = reply else { unreachable!("a good reply") };
        assert_eq!(reply.transaction, 7);
        assert_eq!(reply.route.len(), 2);
        let mut expected = 0x2B_u32.to_ne_bytes().to_vec();
        expected.extend([0; 4]);
        expected.extend(path(1));
        assert_eq!(reply.route[0].as_bytes(), expected);
        assert_eq!(reply.route[1].flags, 0x0A);
        assert_eq!(reply.source, ipv4(7));
    }

    #[test]
    fn records_that_make_no_sense_are_left_out() {
        let reply = parse_reply(&message(&[
            record(0, PATH, &path(0)),
            record(u32::MAX, PATH, &path(1)),
            record(0, u16::MAX, &path(1)),
            record(0, IPV4, &[10, 9, 0, 7]),
            record(SOURCE, IPV6, &[0; 16]),
        ]));
        assert!(reply.is_some_and(|reply| reply.route.is_empty() && reply.source.is_none()));
    }

    #[test]
    fn broken_replies_are_refused() {
        let good = message(&[record(0x2B, PATH, &path(1)), record(0x2B, PATH, &path(2))]);
        assert!(parse_reply(&good).is_some());
        for cut in 0..good.len() {
            assert_eq!(parse_reply(&good[..cut]), None, "cut at {cut}");
        }
        let changed = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            parse_reply(&bytes)
        };
        assert_eq!(changed(0, 2), None);
        assert_eq!(changed(1, 0x82), None);
        assert!(changed(1, RESOLVE).is_some());
        for status in 1..=u8::MAX {
            assert_eq!(changed(2, status), None);
        }
        for length in [0, 1, 15, 16, 17, 87, 88, 159, 161, 592, 593, u16::MAX] {
            let mut bytes = good.clone();
            bytes[6..8].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(parse_reply(&bytes), None, "length {length}");
            // As many bytes as announced, but not in whole records.
            bytes.resize(usize::from(length), 0);
            let whole = [16, 88, 592].contains(&length);
            assert_eq!(parse_reply(&bytes).is_some(), whole, "length {length}");
        }
        let mut longer = good.clone();
        longer.push(0);
        assert_eq!(parse_reply(&longer), None);
    }

    #[test]
    fn any_bytes_are_survived() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..20_000_usize {
            let mut bytes = vec![0; round % (MAX_MESSAGE + 20)];
            for byte in &mut bytes {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *byte = state as u8;
            }
            if round % 2 == 0 && bytes.len() >= HEADER {
                bytes[..3].copy_from_slice(&[VERSION, RESOLVE, 0]);
                let length = bytes.len() as u16;
                bytes[6..8].copy_from_slice(&length.to_ne_bytes());
            }
            if let Some(reply) = parse_reply(&bytes) {
                assert!(reply.route.len() <= MAX_RECORDS);
            }
        }
    }
}
