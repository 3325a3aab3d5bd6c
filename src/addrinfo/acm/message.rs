//! Questions to and replies of the daemon, by the layouts of `<infiniband/acm.h>`.
//!
//! Numbers are in the order of this machine, what is inside an address or path in network order. A
//! reply comes from another process: nothing in it is believed before it was checked.

use crate::types::{AF_IB, SocketAddress};
use libc::{AF_INET, AF_INET6};

const HEADER: usize = 16;
const RECORD: usize = 72;
const MAX_RECORDS: usize = 8;

/// The longest message of either side.
pub(super) const MAX_MESSAGE: usize = HEADER + MAX_RECORDS * RECORD;

/// A record of a reply that holds a path has the size of a `struct ibv_path_data`.
const INFO: usize = 64;

const VERSION: u8 = 1;
const RESOLVE: u8 = 1;
/// Daemons set further bits of a reply's operation, or not.
const OPERATION_MASK: u8 = 0x0F;

const SOURCE: u32 = 1 << 0;
const DESTINATION: u32 = 1 << 1;
const NO_DELAY: u32 = 1 << 30;

const IPV4: u16 = 2;
const IPV6: u16 = 3;
const PATH: u16 = 0x10;

/// Flags of a path that the kernel knows (`IBV_PATH_FLAG_…`).
const PATH_FLAGS: u32 = 0x3F;

/// Where the GIDs lie in a path record.
const DGID: std::ops::Range<usize> = 8..24;
const SGID: std::ops::Range<usize> = 24..40;

/// A path record as the subnet administrator packs it.
pub(crate) type PathRecord = [u8; INFO];

/// What to ask for: the path between two addresses.
#[derive(Clone, Copy, Default)]
pub(crate) struct Question<'a> {
    pub(crate) source: Option<&'a SocketAddress>,
    pub(crate) destination: Option<&'a SocketAddress>,
    /// Fields of a path that are wished for.
    pub(crate) wish: Option<&'a PathRecord>,
    /// Only what the daemon knows without asking around.
    pub(crate) no_delay: bool,
}

/// What a daemon told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(super) transaction: u64,
    /// Records of `struct ibv_path_data`, whole and in the daemon's order.
    pub(crate) route: Vec<u8>,
    pub(crate) source: Option<SocketAddress>,
}

/// A message that is being written.
pub(super) struct Request {
    bytes: [u8; MAX_MESSAGE],
    length: usize,
}

impl Request {
    pub(super) fn new(question: &Question<'_>, transaction: u64) -> Request {
        let mut request = Request { bytes: [0; MAX_MESSAGE], length: HEADER };
        request.bytes[0] = VERSION;
        request.bytes[1] = RESOLVE;
        request.bytes[8..16].copy_from_slice(&transaction.to_ne_bytes());
        let delay = if question.no_delay { NO_DELAY } else { 0 };
        if let Some((kind, host)) = question.source.and_then(ip) {
            request.push(SOURCE, kind, host);
        }
        if let Some((kind, host)) = question.destination.and_then(ip) {
            request.push(DESTINATION | delay, kind, host);
        }
        let (sgid, dgid) = (question.source.and_then(gid), question.destination.and_then(gid));
        if question.wish.is_some() || sgid.is_some() || dgid.is_some() {
            let mut path = question.wish.copied().unwrap_or([0; INFO]);
            for (place, gid) in [(SGID, sgid), (DGID, dgid)] {
                if let Some(gid) = gid {
                    path[place].copy_from_slice(gid);
                }
            }
            request.push(0, PATH, &path);
        }
        request
    }

    fn push(&mut self, flags: u32, kind: u16, info: &[u8]) {
        let record = &mut self.bytes[self.length..self.length + RECORD];
        record[..4].copy_from_slice(&flags.to_ne_bytes());
        record[4..6].copy_from_slice(&kind.to_ne_bytes());
        record[8..8 + info.len()].copy_from_slice(info);
        self.length += RECORD;
        self.bytes[6..8].copy_from_slice(&(self.length as u16).to_ne_bytes());
    }

    /// Nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.length == HEADER
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

fn ip(address: &SocketAddress) -> Option<(u16, &[u8])> {
    match address.family() {
        AF_INET => Some((IPV4, address.host())),
        AF_INET6 => Some((IPV6, address.host())),
        _ => None,
    }
}

fn gid(address: &SocketAddress) -> Option<&[u8]> {
    (address.family() == AF_IB).then(|| address.host())
}

/// How long the message is whose first bytes these are; `None` while nobody can tell, or where the
/// length is none of a message.
pub(super) fn announced_length(bytes: &[u8]) -> Option<usize> {
    let length = usize::from(u16_at(bytes.get(..HEADER)?, 6)?);
    (HEADER..=MAX_MESSAGE).contains(&length).then_some(length)
}

/// Reads a whole reply. `None` where it reports an error or is none.
pub(super) fn parse_reply(bytes: &[u8]) -> Option<Reply> {
    let length = announced_length(bytes)?;
    let success = 0;
    let [VERSION, operation, status, ..] = *bytes else { return None };
    let whole = bytes.len() == length && (length - HEADER).is_multiple_of(RECORD);
    if operation & OPERATION_MASK != RESOLVE || status != success || !whole {
        return None;
    }
    let mut reply = Reply { transaction: u64_at(bytes, 8)?, route: Vec::new(), source: None };
    reply.route.try_reserve_exact(length - HEADER).ok()?;
    for record in bytes[HEADER..].chunks_exact(RECORD) {
        let (flags, kind, info) = (u32_at(record, 0)?, u16_at(record, 4)?, &record[8..]);
        match kind {
            // A path to nowhere is none.
            PATH if flags & !PATH_FLAGS == 0 && info[DGID] != [0; 16] => {
                reply.route.extend_from_slice(&flags.to_ne_bytes());
                reply.route.extend_from_slice(&[0; 4]);
                reply.route.extend_from_slice(info);
            }
            IPV4 | IPV6 if flags & SOURCE != 0 && reply.source.is_none() => {
                reply.source = address(kind, info);
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
    // Whole records, none of them made up.
    assert!(reply.route.len().is_multiple_of(RECORD) && reply.route.len() <= bytes.len() - HEADER);
}

/// An address with port 0; `None` for the wildcard.
fn address(kind: u16, info: &[u8]) -> Option<SocketAddress> {
    let (family, at, size, length) =
        if kind == IPV4 { (AF_INET, 4, 4, 16) } else { (AF_INET6, 8, 16, 28) };
    let mut bytes = [0; 28];
    bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    bytes[at..at + size].copy_from_slice(&info[..size]);
    let known = info[..size].iter().any(|byte| *byte != 0);
    known.then(|| SocketAddress::from_bytes(&bytes[..length])).flatten()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut path = vec![0; INFO];
        path[DGID][15] = dgid;
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
        let question = Question {
            source: source.as_ref(),
            destination: destination.as_ref(),
            no_delay: true,
            wish: None,
        };
        let request = Request::new(&question, 9);
        let bytes = request.bytes();
        assert_eq!(bytes.len(), HEADER + 2 * RECORD);
        assert_eq!(announced_length(bytes), Some(bytes.len()));
        assert_eq!((bytes[0], bytes[1], u64_at(bytes, 8)), (1, 1, Some(9)));
        assert_eq!((u32_at(bytes, 16), u16_at(bytes, 20)), (Some(SOURCE), Some(IPV4)));
        assert_eq!(bytes[24..28], [10, 9, 0, 1]);
        assert_eq!(u32_at(bytes, 88), Some(DESTINATION | NO_DELAY));
        assert_eq!(bytes[96..100], [10, 9, 0, 2]);
        assert!(Request::new(&Question::default(), 1).is_empty());
    }

    #[test]
    fn question_about_gids_is_one_path() {
        let mut bytes = [0_u8; 48];
        bytes[..2].copy_from_slice(&(AF_IB as u16).to_ne_bytes());
        bytes[8..24].copy_from_slice(&[0xAB; 16]);
        let destination = SocketAddress::from_bytes(&bytes);
        let wish = [0x11; INFO];
        let question = Question {
            destination: destination.as_ref(),
            wish: Some(&wish),
            ..Question::default()
        };
        let request = Request::new(&question, 0);
        let record = &request.bytes()[HEADER..];
        assert_eq!((record.len(), u16_at(record, 4)), (RECORD, Some(PATH)));
        assert_eq!(record[8..][DGID], [0xAB; 16]);
        assert_eq!(record[8..][SGID], [0x11; 16]);
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
        assert_eq!(reply.route.len(), 2 * RECORD);
        let mut expected = 0x2B_u32.to_ne_bytes().to_vec();
        expected.extend([0; 4]);
        expected.extend(path(1));
        assert_eq!(reply.route[..RECORD], expected);
        assert_eq!(u32_at(&reply.route, RECORD), Some(0x0A));
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
                assert!(reply.route.len() <= MAX_RECORDS * RECORD);
                assert!(reply.route.len().is_multiple_of(RECORD));
            }
        }
    }
}
