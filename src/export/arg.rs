//! Arguments of C: null checks, and pointers made into what the core works with.
//!
//! # Safety
//! Each function repeats the word of the crate's safety chapter that its argument must fulfil.
#![allow(unsafe_code)]

use crate::conn::Parameters;
use crate::error::{Errno, Result};
use crate::rsocket::{Buffers, Limit};
use crate::types::{SocketAddress, rdma_conn_param};
use libc::{c_char, c_int, c_void, iovec, sockaddr, socklen_t, timeval};
use std::ffi::CStr;
use std::time::Duration;

/// A place for a result.
///
/// # Safety
/// NULL or writable.
pub(super) unsafe fn out<'a, T>(place: *mut T) -> Result<&'a mut T> {
    // SAFETY: by contract.
    unsafe { place.as_mut() }.ok_or(Errno::EINVAL)
}

/// An address that may be missing.
///
/// # Safety
/// NULL or a valid sockaddr.
pub(super) unsafe fn optional_address(address: *const sockaddr) -> Result<Option<SocketAddress>> {
    if address.is_null() {
        return Ok(None);
    }
    // SAFETY: by contract.
    unsafe { SocketAddress::read(address) }.map(Some)
}

/// A text that may be missing.
///
/// # Safety
/// NULL or a C string.
pub(super) unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: by contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// Bytes of the caller; no bytes where either part is missing.
///
/// # Safety
/// NULL or readable for `length` bytes.
pub(super) unsafe fn bytes<'a>(start: *const c_void, length: u8) -> &'a [u8] {
    if start.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(start.cast(), usize::from(length)) }
}

/// Connection parameters that may be missing.
///
/// # Safety
/// NULL or valid, with private data of the stated length.
pub(super) unsafe fn parameters<'a>(given: *const rdma_conn_param) -> Option<Parameters<'a>> {
    // SAFETY: by contract.
    let given = unsafe { given.as_ref() }?;
    Some(Parameters {
        // SAFETY: by contract.
        private_data: unsafe { bytes(given.private_data, given.private_data_len) },
        responder_resources: given.responder_resources,
        initiator_depth: given.initiator_depth,
        flow_control: given.flow_control,
        retry_count: given.retry_count,
        rnr_retry_count: given.rnr_retry_count,
        srq: given.srq,
        qp_num: given.qp_num,
    })
}

/// The address of a socket call. As the kernel has it, none is longer than a sockaddr_storage.
///
/// # Safety
/// NULL, or readable for `length` bytes.
pub(super) unsafe fn socket_address(
    address: *const sockaddr,
    length: socklen_t,
) -> Result<SocketAddress> {
    let length = length as usize;
    if length > size_of::<libc::sockaddr_storage>() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: by contract.
    unsafe { SocketAddress::read_sized(address, length) }
}

/// An address that a datagram goes to; none for NULL.
///
/// # Safety
/// NULL, or readable for `length` bytes.
pub(super) unsafe fn destination(
    address: *const sockaddr,
    length: socklen_t,
) -> Result<Option<SocketAddress>> {
    if address.is_null() {
        return Ok(None);
    }
    // SAFETY: by contract.
    unsafe { socket_address(address, length) }.map(Some)
}

/// The pieces of readv and writev.
///
/// # Safety
/// `list` has `count` valid pieces.
pub(super) unsafe fn pieces<'a>(list: *const iovec, count: c_int) -> Result<Buffers<'a>> {
    let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
    // SAFETY: by contract.
    let pieces = unsafe { Buffers::many(list, count) };
    // What is too long a message is too many pieces here.
    pieces.map_err(|error| if error == Errno::EMSGSIZE { Errno::EINVAL } else { error })
}

/// An array that may be empty.
///
/// # Safety
/// NULL or writable for `count` elements.
pub(super) unsafe fn array<'a, T>(start: *mut T, count: usize) -> Result<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    if start.is_null() {
        return Err(Errno::EFAULT);
    }
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: by contract.
    Ok(unsafe { std::slice::from_raw_parts_mut(start, count) })
}

/// How long select waits.
///
/// # Safety
/// NULL or readable.
pub(super) unsafe fn limit(time: *const timeval) -> Result<Limit> {
    // SAFETY: by contract.
    let Some(time) = (unsafe { time.as_ref() }) else { return Ok(Limit::NONE) };
    let seconds = u64::try_from(time.tv_sec).map_err(|_| Errno::EINVAL)?;
    let micros = u64::try_from(time.tv_usec).map_err(|_| Errno::EINVAL)?;
    // The kernel carries over more than a second of microseconds, too.
    let limit = Duration::from_secs(seconds).checked_add(Duration::from_micros(micros));
    Ok(Limit::from(limit))
}

/// The value of an option.
///
/// # Safety
/// NULL or readable for `length` bytes.
pub(super) unsafe fn option_bytes<'a>(start: *const c_void, length: socklen_t) -> Result<&'a [u8]> {
    if start.is_null() {
        return Err(Errno::EFAULT);
    }
    if length > c_int::MAX as socklen_t {
        return Err(Errno::EINVAL);
    }
    // SAFETY: by contract.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), length as usize) })
}

/// Room of the caller's for a value, and where to tell its length.
pub(super) struct Place {
    start: *mut u8,
    length: *mut socklen_t,
    room: usize,
}

impl Place {
    /// # Safety
    /// `length` is NULL or valid, `start` NULL or writable for as many bytes.
    pub(super) unsafe fn new(start: *mut c_void, length: *mut socklen_t) -> Result<Place> {
        // SAFETY: by contract.
        let room = unsafe { length.as_ref() }.ok_or(Errno::EFAULT)?;
        if start.is_null() && *room > 0 {
            return Err(Errno::EFAULT);
        }
        let room = c_int::try_from(*room).map_err(|_| Errno::EINVAL)? as usize;
        Ok(Place { start: start.cast(), length, room })
    }

    /// As much as there is room for; the length tells how much that was.
    pub(super) fn store(&self, bytes: &[u8]) {
        let count = self.copy(bytes);
        // SAFETY: valid since `new`.
        unsafe { *self.length = count as socklen_t };
    }

    fn copy(&self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.room);
        if count > 0 {
            // SAFETY: `room` bytes are writable, by the contract of `new`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start, count) };
        }
        count
    }
}

/// Stores a socket's name: cut to the room there is, with its whole length.
///
/// # Safety
/// As `Place::new`.
pub(super) unsafe fn store_name(
    name: &SocketAddress,
    start: *mut sockaddr,
    length: *mut socklen_t,
) -> Result<()> {
    // SAFETY: by contract.
    let place = unsafe { Place::new(start.cast(), length) }?;
    place.copy(name.bytes());
    // SAFETY: valid since `new`.
    unsafe { *place.length = name.length() as socklen_t };
    Ok(())
}

/// Stores an address that the caller may not want, and that may not be known.
///
/// # Safety
/// As `Place::new`, but both may be NULL.
pub(super) unsafe fn store_address(
    address: Option<&SocketAddress>,
    start: *mut sockaddr,
    length: *mut socklen_t,
) -> Result<()> {
    if start.is_null() {
        return Ok(());
    }
    match address {
        // SAFETY: by contract.
        Some(address) => unsafe { store_name(address, start, length) },
        None => {
            // SAFETY: by contract.
            if let Some(length) = unsafe { length.as_mut() } {
                *length = 0;
            }
            Ok(())
        }
    }
}

/// Whether an address is AF_UNSPEC, which takes a connection back.
///
/// # Safety
/// NULL, or readable for `length` bytes.
pub(super) unsafe fn is_unspecified(address: *const sockaddr, length: socklen_t) -> bool {
    if address.is_null() || (length as usize) < size_of::<libc::sa_family_t>() {
        return false;
    }
    // SAFETY: at least the family is readable.
    let family = unsafe { (&raw const (*address).sa_family).read_unaligned() };
    i32::from(family) == libc::AF_UNSPEC
}
