//! Option values between numbers and the bytes that C passes.

use crate::error::{Errno, Result};
use crate::memory::try_copy;
use std::time::Duration;

const USEC_PER_SEC: i64 = 1_000_000;

fn take<const LENGTH: usize>(bytes: &[u8], at: usize) -> Result<[u8; LENGTH]> {
    let part = at.checked_add(LENGTH).and_then(|end| bytes.get(at..end)).ok_or(Errno::EINVAL)?;
    part.try_into().map_err(|_| Errno::EINVAL)
}

pub(super) fn int(bytes: &[u8]) -> Result<i32> {
    take(bytes, 0).map(i32::from_ne_bytes)
}

pub(super) fn flag(bytes: &[u8]) -> Result<bool> {
    Ok(int(bytes)? != 0)
}

/// A size; C programs pass int, negative ones mean nothing.
pub(super) fn unsigned(bytes: &[u8]) -> Result<u64> {
    u64::try_from(int(bytes)?).map_err(|_| Errno::EINVAL)
}

/// IP_TOS comes as a byte or as an int.
pub(super) fn byte_or_int(bytes: &[u8]) -> Result<i32> {
    match bytes {
        [only] => Ok(i32::from(*only)),
        _ => int(bytes),
    }
}

/// `struct linger`.
pub(super) fn linger(bytes: &[u8]) -> Result<Option<Duration>> {
    let (on, seconds) = (int(bytes)?, i32::from_ne_bytes(take(bytes, 4)?));
    let seconds = u64::try_from(seconds).unwrap_or(u64::from(u32::MAX));
    Ok((on != 0).then(|| Duration::from_secs(seconds)))
}

/// `struct timeval`; zero is no limit.
pub(super) fn duration(bytes: &[u8]) -> Result<Option<Duration>> {
    let seconds = i64::from_ne_bytes(take(bytes, 0)?);
    let micros = i64::from_ne_bytes(take(bytes, 8)?);
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

pub(super) fn of(value: i32) -> Result<Vec<u8>> {
    try_copy(&value.to_ne_bytes())
}

/// Two values one behind the other.
fn pair<const LENGTH: usize>(first: [u8; LENGTH], second: [u8; LENGTH]) -> Result<Vec<u8>> {
    try_copy([first, second].as_flattened())
}

pub(super) fn of_linger(linger: Option<Duration>) -> Result<Vec<u8>> {
    let seconds = linger.map_or(0, |time| i32::try_from(time.as_secs()).unwrap_or(i32::MAX));
    pair(i32::from(linger.is_some()).to_ne_bytes(), seconds.to_ne_bytes())
}

pub(super) fn of_duration(time: Option<Duration>) -> Result<Vec<u8>> {
    let time = time.unwrap_or_default();
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    pair(seconds.to_ne_bytes(), i64::from(time.subsec_micros()).to_ne_bytes())
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
        assert_eq!(byte_or_int(&[1, 2]), Err(Errno::EINVAL));
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
