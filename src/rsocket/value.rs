// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The names of rsocket options, and values of socket options: between numbers and the bytes that C
//! passes. Pure.

use alloc::vec::Vec;
use base::errno::{Errno, Result};
use base::fail;
use base::memory::try_copy;
use core::time::Duration;
use libc::c_int;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The level of rsocket options.
pub(crate) const SOL_RDMA: c_int = 0x10000;
pub(crate) const RDMA_SQSIZE: c_int = 0;
pub(crate) const RDMA_RQSIZE: c_int = 1;
pub(crate) const RDMA_INLINE: c_int = 2;
pub(crate) const RDMA_IOMAPSIZE: c_int = 3;
pub(crate) const RDMA_ROUTE: c_int = 4;
/// Options of our own, for the preload library; no number of the C library's is as high.
/// Of a datagram socket: peers may be no rsockets, and datagrams as long as UDP's.
pub(crate) const AS_UDP: c_int = 0x100;
/// Of a listener: a request is answered by raccept, so a connection is never left to a process that
/// does not accept. Its value is the number of those that are answered and not taken.
pub(crate) const ON_DEMAND: c_int = 0x101;
/// For the trace: the program's descriptor, beside which the rsocket is.
pub(crate) const BESIDE: c_int = 0x102;

const USEC_PER_SEC: i64 = 1_000_000;

/// `struct linger`.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct RawLinger {
    on: i32,
    seconds: i32,
}

/// `struct timeval`.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct RawTime {
    seconds: i64,
    micros: i64,
}

const _: () = assert!(size_of::<RawLinger>() == size_of::<libc::linger>());
const _: () = assert!(size_of::<RawTime>() == size_of::<libc::timeval>());

/// EINVAL for fewer bytes than the value has; more do not matter.
fn read<T: FromBytes>(bytes: &[u8]) -> Result<T> {
    T::read_from_prefix(bytes).map(|(value, _)| value).map_err(|_| {
        fail!(EINVAL, "the value of an option has {} bytes, not {}", bytes.len(), size_of::<T>())
    })
}

pub(crate) fn int(bytes: &[u8]) -> Result<i32> {
    read(bytes)
}

pub(crate) fn flag(bytes: &[u8]) -> Result<bool> {
    Ok(int(bytes)? != 0)
}

/// A size; C programs pass int, negative ones mean nothing.
pub(crate) fn unsigned(bytes: &[u8]) -> Result<u64> {
    let value = int(bytes)?;
    u64::try_from(value).map_err(|_| fail!(EINVAL, "{value} is no value of this option"))
}

/// IP_TOS comes as a byte or as an int.
pub(crate) fn byte_or_int(bytes: &[u8]) -> Result<i32> {
    match bytes {
        [only, rest @ ..] if rest.len() < 3 => Ok(i32::from(*only)),
        _ => int(bytes),
    }
}

/// `struct linger`.
pub(crate) fn linger(bytes: &[u8]) -> Result<Option<Duration>> {
    let RawLinger { on, seconds } = read(bytes)?;
    let seconds = u64::try_from(seconds).unwrap_or(u64::from(u32::MAX));
    Ok((on != 0).then(|| Duration::from_secs(seconds)))
}

/// `struct timeval`; zero is no limit.
pub(crate) fn duration(bytes: &[u8]) -> Result<Option<Duration>> {
    let RawTime { seconds, micros } = read(bytes)?;
    if !(0..USEC_PER_SEC).contains(&micros) {
        return Err(Errno::of(libc::EDOM));
    }
    let Ok(seconds) = u64::try_from(seconds) else {
        // The kernel takes a negative time as one that is over at once.
        return Ok(Some(Duration::from_micros(1)));
    };
    let time = Duration::from_secs(seconds) + Duration::from_micros(micros as u64);
    Ok((!time.is_zero()).then_some(time))
}

pub(crate) fn of(value: i32) -> Result<Vec<u8>> {
    try_copy(value.as_bytes())
}

pub(crate) fn of_linger(linger: Option<Duration>) -> Result<Vec<u8>> {
    let seconds = linger.map_or(0, |time| i32::try_from(time.as_secs()).unwrap_or(i32::MAX));
    try_copy(RawLinger { on: i32::from(linger.is_some()), seconds }.as_bytes())
}

pub(crate) fn of_duration(time: Option<Duration>) -> Result<Vec<u8>> {
    let time = time.unwrap_or_default();
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    try_copy(RawTime { seconds, micros: i64::from(time.subsec_micros()) }.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_are_refused() {
        for length in 0..4 {
            assert_eq!(int(&[1; 4][..length]), Err(Errno::EINVAL));
        }
        assert_eq!(byte_or_int(&[16]), Ok(16));
        assert_eq!(byte_or_int(&[1, 2]), Ok(1));
        assert_eq!(byte_or_int(&[]), Err(Errno::EINVAL));
        assert_eq!(linger(&[1; 7]), Err(Errno::EINVAL));
        assert_eq!(duration(&[0; 15]), Err(Errno::EINVAL));
        assert_eq!(of(-1).and_then(|bytes| unsigned(&bytes)), Err(Errno::EINVAL));
    }

    #[test]
    fn times_come_back_as_they_were() {
        let time = Duration::from_micros(1_500_000);
        let through = |time| of_duration(time).and_then(|bytes| duration(&bytes));
        assert_eq!(through(Some(time)), Ok(Some(time)));
        assert_eq!(through(None), Ok(None));
        assert_eq!(duration(&[0xFF; 16]), Err(Errno::of(libc::EDOM)));
        let linger_time = Duration::from_secs(7);
        let through = |time| of_linger(time).and_then(|bytes| linger(&bytes));
        assert_eq!(through(Some(linger_time)), Ok(Some(linger_time)));
        assert_eq!(through(None), Ok(None));
    }
}
