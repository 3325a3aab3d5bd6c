// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Services that the subnet administrator of an InfiniBand fabric knows (RAI_SA): how they are
//! written, and the records of an answer.

use super::entry::Entry;
use super::native::{NativeAddress, ServiceId};
use crate::types::{AF_IB, RAI_SA, RDMA_PS_IB};
use crate::uapi::abi;
use base::errno::Result;
use base::fail;
use core::ffi::CStr;
use libc::c_int;

/// A service by number or name, as the kernel wants it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServiceName {
    Number(u64),
    Name([u8; abi::SERVICE_NAME_SIZE]),
}

impl ServiceName {
    /// A text that strtoull takes as a number in base 0 is a number, every other one a name. A name
    /// that is too long for the kernel is refused.
    pub(crate) fn parse(text: &CStr) -> Result<ServiceName> {
        if let Some(number) = text.to_str().ok().and_then(parse_number) {
            return Ok(ServiceName::Number(number));
        }
        let given = text.to_bytes_with_nul();
        let mut name = [0; abi::SERVICE_NAME_SIZE];
        let room = name.get_mut(..given.len()).ok_or_else(|| {
            fail!(EINVAL, "a service's name has at most {} bytes", abi::SERVICE_NAME_SIZE - 1)
        })?;
        room.copy_from_slice(given);
        Ok(ServiceName::Name(name))
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

/// The address at which a service is offered.
pub(crate) fn service_entry(record: &abi::ServiceRecord, qp_type: c_int) -> Entry {
    let native = NativeAddress {
        pkey: u16::from_be(record.pkey),
        flow_label: 0,
        gid: record.gid,
        service: ServiceId { id: u64::from_be(record.id), mask: u64::MAX },
        scope: 0,
    };
    Entry {
        flags: RAI_SA,
        family: AF_IB,
        qp_type,
        port_space: RDMA_PS_IB as c_int,
        destination: Some(native.address()),
        ..Entry::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::SocketAddress;
    use base::errno::Errno;

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
            assert_eq!(ServiceName::parse(text), Ok(ServiceName::Number(number)), "{text:?}");
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
            assert!(matches!(ServiceName::parse(text), Ok(ServiceName::Name(_))), "{text:?}");
        }
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        let name = |length| {
            let text = alloc::ffi::CString::new(vec![b'a'; length]).unwrap_or_default();
            ServiceName::parse(&text)
        };
        assert!(name(63).is_ok_and(|wanted| matches!(wanted, ServiceName::Name(n) if n[63] == 0)));
        assert_eq!(name(64), Err(Errno::EINVAL));
        assert_eq!(name(5000), Err(Errno::EINVAL));
    }

    #[test]
    fn a_record_becomes_a_destination() {
        let mut record: abi::ServiceRecord = zerocopy::FromZeros::new_zeroed();
        record.id = 0x1234_u64.to_be();
        record.gid = [0xFE; 16];
        record.pkey = 0x8001_u16.to_be();
        let entry = service_entry(&record, 2);
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
