//! Services that the subnet administrator of an InfiniBand fabric knows (RAI_SA).

use super::native::{Native, Service};
use super::resolve::{start_service, take_resolved};
use super::{Entry, Failure, Hints};
use crate::device;
use crate::error::{Errno, Result};
use crate::id::{self, Id};
use crate::memory::try_vec;
use crate::sync_mode::Operation;
use crate::types::{AF_IB, RAI_SA, RDMA_PS_IB, SocketAddress};
use crate::uapi::{self, abi};
use libc::c_int;
use rdma_sys::ibv_qp_type;
use std::ffi::CStr;
use std::time::{Duration, Instant};

/// The kernel gives a question of its own two seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// A service by number or name, as the kernel wants it.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Number(u64),
    Name([u8; abi::SERVICE_NAME_SIZE]),
}

impl Wanted {
    /// What is a number to strtoull with base 0 is a number, everything else a name. A name that the
    /// kernel would cut is refused: it would find another service.
    fn parse(text: &CStr) -> Result<Wanted> {
        if let Some(number) = text.to_str().ok().and_then(parse_number) {
            return Ok(Wanted::Number(number));
        }
        let given = text.to_bytes_with_nul();
        let mut name = [0; abi::SERVICE_NAME_SIZE];
        name.get_mut(..given.len()).ok_or(Errno::EINVAL)?.copy_from_slice(given);
        Ok(Wanted::Name(name))
    }
}

fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let digits = text.strip_prefix('+').unwrap_or(text);
    let (digits, base) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => (hexadecimal, 16),
        None if digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    // from_str_radix would take one more sign.
    let plain = digits.starts_with(|first: char| first.is_digit(base));
    plain.then(|| u64::from_str_radix(digits, base).ok()).flatten()
}

/// Asks the fabric that an id is bound to; the answer is an event.
pub(super) fn start(id: &Id, service: &CStr) -> Result<()> {
    let (number, name, flags) = match Wanted::parse(service)? {
        Wanted::Number(number) => (number, [0; abi::SERVICE_NAME_SIZE], abi::SERVICE_BY_ID),
        Wanted::Name(name) => (0, name, abi::SERVICE_BY_NAME),
    };
    let fd = id.fd()?;
    let command = abi::ResolveIbService {
        id: id.handle(),
        reserved: 0,
        service_id: number,
        service_name: name,
        flags,
        reserved1: 0,
    };
    uapi::send(fd, command).map_err(|error| uapi::unless_unknown(fd, error))
}

/// What the fabric answered.
pub(super) fn entries(id: &Id, qp_type: c_int) -> Result<Vec<Entry>> {
    let query = abi::QueryIbService { response: 0, id: id.handle(), option: abi::QUERY_IB_SERVICE };
    let answer = uapi::call(id.fd()?, query)?;
    let count = (answer.count as usize).min(answer.records.len());
    let mut entries = try_vec(count)?;
    for record in &answer.records[..count] {
        entries.push(from_record(record, qp_type)?);
    }
    if entries.is_empty() { Err(Errno::ENODATA) } else { Ok(entries) }
}

fn from_record(record: &abi::ServiceRecord, qp_type: c_int) -> Result<Entry> {
    let native = Native {
        pkey: u16::from_be(record.pkey),
        flow_label: 0,
        gid: record.gid,
        service: Service { id: u64::from_be(record.id), mask: u64::MAX },
        scope: 0,
    };
    Ok(Entry {
        flags: RAI_SA,
        family: AF_IB,
        qp_type,
        port_space: RDMA_PS_IB as c_int,
        destination: Some(native.address().ok_or(Errno::EINVAL)?),
        ..Entry::default()
    })
}

/// Looks a service up in the fabric of the hinted source address, or in that of each port until one
/// knows it; each answer comes with the source address to reach it from.
pub(super) fn lookup(service: &CStr, hints: &Hints) -> std::result::Result<Vec<Entry>, Failure> {
    if let Some(source) = &hints.source {
        return Ok(lookup_from(&[*source], service, hints)?);
    }
    let mut outcome = Err(Errno::ENODEV);
    for (device, port) in device::infiniband_ports()? {
        let Ok(gids) = device.gids(port) else { continue };
        let mut sources = try_vec(gids.len())?;
        sources.extend(
            gids.iter().filter_map(|gid| Native { gid: *gid, ..Native::default() }.address()),
        );
        outcome = lookup_from(&sources, service, hints);
        if outcome.is_ok() {
            break;
        }
    }
    Ok(outcome?)
}

/// Asks from the first of the addresses that an id can be bound to.
fn lookup_from(sources: &[SocketAddress], service: &CStr, hints: &Hints) -> Result<Vec<Entry>> {
    let asker = id::Temporary::create(RDMA_PS_IB, ibv_qp_type::IBV_QPT_RC)?;
    let mut bound = Err(Errno::EADDRNOTAVAIL);
    for source in sources {
        bound = asker.bind(source);
        if bound.is_ok() {
            break;
        }
    }
    bound?;
    start_service(&asker, service, hints)?;
    let limit = Instant::now().checked_add(ANSWER_LIMIT);
    let (message, result) = asker.wait_until(Operation::ResolveAddrinfo, limit)?;
    drop(message);
    result?;
    let mut entries = take_resolved(&asker)?;
    let (source_gid, _) = asker.gids();
    for entry in &mut entries {
        let pkey = entry.destination.as_ref().and_then(|address| address.bytes().get(2..4));
        let source = Native {
            pkey: pkey.map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]])),
            gid: source_gid,
            service: Service::of_port(RDMA_PS_IB as c_int, 0),
            ..Native::default()
        };
        entry.source = source.address();
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_strtoull_does() {
        for (text, number) in [
            (c"0", 0),
            (c"4660", 0x1234),
            (c"0x1234", 0x1234),
            (c"0X12aB", 0x12AB),
            (c"011064", 0x1234),
            (c" +4660", 0x1234),
            (c"18446744073709551615", u64::MAX),
        ] {
            assert_eq!(Wanted::parse(text), Ok(Wanted::Number(number)), "{text:?}");
        }
    }

    #[test]
    fn everything_else_is_a_name() {
        for text in [
            c"",
            c"0x",
            c"12abc",
            c"4660 ",
            c"++1",
            c"0x+1",
            c"0x-1",
            c"089",
            c"1_0",
            c"-1",
            c"18446744073709551616",
            c"service",
            c"\xff",
        ] {
            assert!(matches!(Wanted::parse(text), Ok(Wanted::Name(_))), "{text:?}");
        }
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        let name = |length| {
            let text = std::ffi::CString::new(vec![b'a'; length]).unwrap_or_default();
            Wanted::parse(&text)
        };
        assert!(name(63).is_ok_and(|wanted| matches!(wanted, Wanted::Name(n) if n[63] == 0)));
        assert_eq!(name(64), Err(Errno::EINVAL));
        assert_eq!(name(5000), Err(Errno::EINVAL));
    }

    #[test]
    fn a_record_becomes_a_destination() {
        let mut record: abi::ServiceRecord = zerocopy::FromZeros::new_zeroed();
        record.id = 0x1234_u64.to_be();
        record.gid = [0xFE; 16];
        record.pkey = 0x8001_u16.to_be();
        let entry = from_record(&record, 2).unwrap_or_default();
        assert_eq!((entry.flags, entry.family, entry.qp_type), (RAI_SA, AF_IB, 2));
        assert_eq!(entry.port_space, RDMA_PS_IB as c_int);
        let bytes = entry.destination.as_ref().map_or(&[][..], SocketAddress::bytes);
        assert_eq!(bytes[2..4], [0x80, 0x01]);
        assert_eq!(bytes[8..24], [0xFE; 16]);
        assert_eq!(
            bytes[24..40],
            [0, 0, 0, 0, 0, 0, 0x12, 0x34, 255, 255, 255, 255, 255, 255, 255, 255]
        );
    }
}
